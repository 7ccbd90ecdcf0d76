"""GT104: A parameter whose way to the loss goes through an operator without a derivative, or through integers."""

from __future__ import annotations

from ..finding import Severity
from ..rule import Rule, look_for_verdict

RULE = Rule(
    code="GT104",
    name="no-derivative",
    summary="A parameter whose way to the loss goes through an operator without a derivative, or through integers.",
    why=("argmax, rounding, comparisons and casts to integers pass no gradient on; training goes on without an error."),
    severity=Severity.ERROR,
    look=look_for_verdict("GT104"),
    explains=True,
    wrong="""\
import paddle
import paddle.nn.functional as F

paddle.seed(0)

net = paddle.nn.Linear(4, 3)
x, y = paddle.rand([8, 4]), paddle.randint(0, 3, [8])
scale = paddle.create_parameter([1], 'float32')
guess = net(x).argmax(axis=1)
loss = ((guess == y).astype('float32') * scale).mean()
loss.backward()
""",
    right="""\
import paddle
import paddle.nn.functional as F

paddle.seed(0)

net = paddle.nn.Linear(4, 3)
x, y = paddle.rand([8, 4]), paddle.randint(0, 3, [8])
scale = paddle.create_parameter([1], 'float32', default_initializer=paddle.nn.initializer.Constant(1.0))
loss = F.cross_entropy(net(x) * scale, y)
loss.backward()
""",
)
