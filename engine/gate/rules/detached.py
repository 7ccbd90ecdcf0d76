"""GT103: A parameter that is cut off from the loss by detach, no_grad or stop_gradient."""

from __future__ import annotations

from ..finding import Severity
from ..rule import Rule, look_for_verdict

RULE = Rule(
    code="GT103",
    name="detached",
    summary="A parameter that is cut off from the loss by detach, no_grad or stop_gradient.",
    why=(
        "Everything before the cut stays as it was made. The loss still falls, because what comes after the cut learns."
    ),
    severity=Severity.ERROR,
    look=look_for_verdict("GT103"),
    explains=True,
    wrong="""\
import paddle
import paddle.nn.functional as F

paddle.seed(0)

encoder, decoder = paddle.nn.Linear(4, 2), paddle.nn.Linear(2, 4)
x = paddle.rand([8, 4])
code = encoder(x).detach()
loss = (decoder(code) - x).square().mean()
loss.backward()
""",
    right="""\
import paddle
import paddle.nn.functional as F

paddle.seed(0)

encoder, decoder = paddle.nn.Linear(4, 2), paddle.nn.Linear(2, 4)
x = paddle.rand([8, 4])
code = encoder(x)
loss = (decoder(code) - x).square().mean()
loss.backward()
""",
)
