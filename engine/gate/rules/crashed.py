"""GT904: A model whose process ended before there was an answer."""

from __future__ import annotations

from ..finding import Severity
from ..rule import Rule, find_nothing

RULE = Rule(
    code="GT904",
    name="crashed",
    summary="A model whose process ended before there was an answer.",
    why=(
        "A library crashed, or the code ended its process. Nothing of this model was checked. The other models have "
        "processes of their own, and go on."
    ),
    severity=Severity.ERROR,
    look=find_nothing,  # who waits for the process finds this: gate/process.py
    alone=True,
    wrong="""\
import os

import paddle

net = paddle.nn.Linear(4, 1)
loss = net(paddle.rand([8, 4])).mean()
loss.backward()
os._exit(3)  # no handler, no finally, no answer
""",
    right="""\
import paddle

net = paddle.nn.Linear(4, 1)
loss = net(paddle.rand([8, 4])).mean()
loss.backward()
""",
)
