"""``gradtool debug --on-error``: the session begins at what failed, with its inputs and the user's variables."""

from __future__ import annotations

import pytest

from gradtool.engine.core.command_errors import ModelError
from tests.viz.debugger.conftest import Open, said

FORWARD = """\
import paddle
import paddle.nn as nn

class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(4, 3)
        self.fc2 = nn.Linear(5, 1)

    def forward(self, x):
        scale = 2.5
        h = paddle.nn.functional.relu(self.fc1(x)) * scale
        return self.fc2(h)

model = Net()
x = paddle.ones([2, 4])
loss = model(x).mean()
loss.backward()
"""

BACKWARD = """\
import paddle
from paddle.autograd import PyLayer

class Odd(PyLayer):
    @staticmethod
    def forward(ctx, x):
        return x * 2.0

    @staticmethod
    def backward(ctx, dy):
        limit = 3
        raise ValueError("no odd gradients")

w = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
a = w * 3.0
loss = (Odd.apply(a) * a).sum()
"""

HOOK = """\
import paddle
w = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
a = paddle.exp(w)

def hook(g):
    secret = 41
    raise RuntimeError("cross hook")

a.register_hook(hook)
loss = (a * a).sum()
loss.backward()
"""

FREED = """\
import paddle
w = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
loss = (w * w).sum()
loss.backward()
loss.backward()
"""

IN_PLACE = """\
import paddle
w = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
a = paddle.exp(w)
b = a * a
a.add_(paddle.ones([2]))
b.sum().backward()
"""

STATIC = """\
import numpy as np
import paddle
paddle.enable_static()
x = paddle.static.data("x", [-1, 4])
y = paddle.static.data("y", [-1, 3])
h = paddle.static.nn.fc(x, 3, name="fc1")
loss = paddle.mean(h * y)
feed = {"x": np.ones([2, 4], "float32"), "y": np.ones([5, 3], "float32")}
"""

STATIC_BUILD = """\
import paddle
paddle.enable_static()
x = paddle.static.data("x", [2, 4])
h = paddle.static.nn.fc(x, 3, name="fc1")
z = paddle.matmul(h, h)
"""


@pytest.mark.parametrize(
    ("text", "operator", "told"),
    [
        (FORWARD, "matmul_v2.1", "cannot be multiplied"),
        (BACKWARD, "PyLayer_Odd_grad.0", "no odd gradients"),
        (HOOK, "exp_grad.0", "raised by a hook on the output of exp"),
        (FREED, "reduce_sum_grad.0", "a second time"),
        (IN_PLACE, "elementwise_mul_grad.0", "modified by an inplace operation"),
        (STATIC, "elementwise_mul.0", "could not be broadcast"),
    ],
    ids=["forward", "PyLayer", "hook", "freed", "in place", "static"],
)
def test_the_operator_that_failed(opened: Open, text: str, operator: str, told: str) -> None:
    book = opened(text, on_error=True)
    current = book.session.current
    assert current is not None
    assert current.name == operator
    assert told in book.opening
    assert book.opening.startswith(f"■ error at ▶ {current.index + 1}/")
    assert any(line.startswith("▶!") for line in said(book, "list").splitlines())
    assert told in said(book, "step")  # it fails as it did
    assert book.session.cursor == current.index


def test_its_inputs_and_the_stack(opened: Open) -> None:
    book = opened(FORWARD, on_error=True)
    assert "y model.fc2.weight 5×1" in book.opening
    assert "line 17, in <module>" in book.opening
    assert "return self.fc2(h)" in book.opening
    assert [e.type for e in book.session.timeline.entries[:-1]] == ["matmul_v2", "elementwise_add", "relu", "scale"]


def test_the_variables_where_it_failed(opened: Open) -> None:
    assert opened(FORWARD, on_error=True).execute("scale + 1")[1].value == 3.5
    assert opened(HOOK, on_error=True).execute("secret")[1].value == 41
    assert opened(BACKWARD, on_error=True).execute("p limit * 2")[1].value == 6


def test_a_verb_is_no_variable(opened: Open) -> None:
    book = opened(FORWARD.replace("scale", "s"), on_error=True)
    assert said(book, "s").startswith("■ error")
    assert book.execute("! s")[1].value == 2.5


def test_the_model_raises_without_the_option(opened: Open) -> None:
    with pytest.raises(ModelError, match="no odd gradients"):
        opened(BACKWARD)


def test_an_edit_mends_a_static_run(opened: Open) -> None:
    book = opened(STATIC, on_error=True)
    said(book, "back")
    assert said(book, "set fc1.tmp_0 = 0").startswith("edited")
    assert "could not be broadcast" in said(book, "c")


def test_a_program_that_could_not_be_built(opened: Open) -> None:
    book = opened(STATIC_BUILD, on_error=True)
    assert "cannot be multiplied" in book.opening
    assert [e.type for e in book.session.timeline.entries] == ["mul", "elementwise_add"]


def test_code_between_operators(opened: Open) -> None:
    text = "import paddle\nw = paddle.ones([2])\nk = w * 2.0\nn = 7\nraise KeyError('lost')\n"
    book = opened(text, on_error=True)
    assert book.opening.startswith("■ the run failed here")
    assert book.execute("! n")[1].value == 7


def test_an_error_in_a_later_step(opened: Open) -> None:
    text = """\
import paddle
w = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
for i in range(3):
    x = w * float(i)
    if i == 2:
        x = paddle.concat([x, x])
    loss = (x * w).sum()
    loss.backward()
"""
    book = opened(text, on_error=True)
    assert book.session.current is not None
    assert book.session.current.type == "elementwise_mul"
    assert [e.type for e in book.session.timeline.entries] == ["scale", "concat", "elementwise_mul"]


def test_no_error(opened: Open) -> None:
    book = opened(FREED.replace("loss.backward()\nloss", "loss"), on_error=True)
    assert book.session.timeline.failed is None
    assert book.session.cursor == book.session.timeline.begin
