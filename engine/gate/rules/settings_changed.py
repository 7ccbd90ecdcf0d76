"""GT404: The backward part has another no-grad set, parameter list or checkpoints than in the golden file."""

from __future__ import annotations

from ..drift import look_for_changes
from ..finding import Severity
from ..rule import Rule

RULE = Rule(
    code="GT404",
    name="settings-changed",
    summary="The backward part has another no-grad set, parameter list or checkpoints than in the golden file.",
    why="These decide what learns and what is kept. A change of them changes no forward operator.",
    severity=Severity.ERROR,
    look=look_for_changes("setting"),
    golden=True,
    wrong="""\
import paddle

paddle.enable_static()
x = paddle.static.data("x", [8, 4])
h = paddle.tanh(paddle.static.nn.fc(x, 8, name="first"))
loss = paddle.mean(paddle.static.nn.fc(h, 1, name="second"))
paddle.static.append_backward(loss, no_grad_set={"first.b_0"})
""",
    right="""\
import paddle

paddle.enable_static()
x = paddle.static.data("x", [8, 4])
h = paddle.tanh(paddle.static.nn.fc(x, 8, name="first"))
loss = paddle.mean(paddle.static.nn.fc(h, 1, name="second"))
paddle.static.append_backward(loss)
""",
)
