"""GT109: A penalty on a gradient that was taken as a constant."""

from __future__ import annotations

from ..finding import Severity
from ..rule import Rule, look_for_verdict

RULE = Rule(
    code="GT109",
    name="constant-gradient",
    summary="A penalty on a gradient that was taken as a constant.",
    why=(
        "paddle.grad without create_graph=True gives plain numbers. What a loss computes from nothing but them moves "
        "its value and no parameter: the training runs, and the penalty is not there."
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
