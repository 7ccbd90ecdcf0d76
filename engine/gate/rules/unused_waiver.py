"""GT902: A waiver that waives nothing."""

from __future__ import annotations

from ..finding import Severity
from ..rule import Rule, find_nothing

RULE = Rule(
    code="GT902",
    name="unused-waiver",
    summary="A waiver that waives nothing.",
    why=(
        "What it waived is gone, or it never matched. The next finding on that line would be passed over for a reason "
        "that no longer holds."
    ),
    severity=Severity.WARNING,
    look=find_nothing,  # that is known when all models that read a file have been checked: gate/waivers.py
    wrong="""\
import paddle

encoder = paddle.nn.Linear(4, 8)
head = paddle.nn.Linear(8, 1)
code = encoder(paddle.rand([5, 4]))  # gradtool: ignore[GT103] trained elsewhere
loss = head(code).mean()
loss.backward()
""",
    right="""\
import paddle

encoder = paddle.nn.Linear(4, 8)
head = paddle.nn.Linear(8, 1)
code = encoder(paddle.rand([5, 4])).detach()  # gradtool: ignore[GT103] trained elsewhere
loss = head(code).mean()
loss.backward()
""",
)
