"""GT109: A penalty on a gradient that was taken as a constant."""

from __future__ import annotations

from ..finding import Severity
from ..rule import Rule, look_for_verdict

RULE = Rule(
    code="GT109",
    name="constant-gradient",
    summary="A penalty on a gradient that was taken as a constant.",
    why=(
        "A gradient that is taken without create_graph=True is plain numbers. A penalty computed from it moves the "
        "value of the loss and no parameter. The training runs without the penalty."
    ),
    severity=Severity.ERROR,
    look=look_for_verdict("GT109"),
    wrong="""\
import paddle
import paddle.nn as nn

paddle.seed(0)
critic = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
real, fake = paddle.rand([6, 4]), paddle.rand([6, 4])
real.stop_gradient = False
score = critic(real)
slope = paddle.grad(score.sum(), real, retain_graph=True)[0]
loss = critic(fake).tanh().mean() - score.tanh().mean() + ((slope.norm(axis=1) - 1) ** 2).mean()
loss.backward()
""",
    right="""\
import paddle
import paddle.nn as nn

paddle.seed(0)
critic = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
real, fake = paddle.rand([6, 4]), paddle.rand([6, 4])
real.stop_gradient = False
score = critic(real)
slope = paddle.grad(score.sum(), real, create_graph=True)[0]
loss = critic(fake).tanh().mean() - score.tanh().mean() + ((slope.norm(axis=1) - 1) ** 2).mean()
loss.backward()
""",
)
