"""GT403: Operators that are the same have other gradient operators than in the golden file."""

from __future__ import annotations

from ..drift import by_kind
from ..finding import Severity
from ..rule import Rule

RULE = Rule(
    code="GT403",
    name="backward-changed",
    summary="Operators that are the same have other gradient operators than in the golden file.",
    why=(
        "Backward was pruned in another way: work that was left out is done, or the other way round."
    ),
    severity=Severity.WARNING,
    look=by_kind("backward"),
    golden=True,
    wrong="""\
import paddle

paddle.seed(0)
first, second = paddle.nn.Linear(4, 8), paddle.nn.Linear(8, 1)
x = paddle.rand([8, 4])
x.stop_gradient = False
loss = (second(paddle.tanh(first(x))) - 1).square().mean()
loss.backward()
""",
    right="""\
import paddle

paddle.seed(0)
first, second = paddle.nn.Linear(4, 8), paddle.nn.Linear(8, 1)
h = paddle.tanh(first(paddle.rand([8, 4])))
loss = (second(h) - 1).square().mean()
loss.backward()
""",
)
