"""Commands about scripts with ``to_static`` and about what ``jit.save`` wrote: sources are the user's lines."""

from __future__ import annotations

from pathlib import Path

import pytest

from gradtool import paddle
from tests.cli.conftest import Run, Write

SCRIPT = """\
import paddle

class Net(paddle.nn.Layer):
    def __init__(self):
        super().__init__()
        self.first = paddle.nn.Linear(3, 4)
        self.head = paddle.nn.Linear(4, 1)

    @paddle.jit.to_static
    def forward(self, x):
        h = self.first(x)
        if h.sum() > -1000:
            h = h.detach()
        return self.head(h)

net = Net()
loss = net(paddle.ones([2, 3])).mean()
loss.backward()
"""

PROGRAM = (
    SCRIPT[: SCRIPT.index("loss =")]
    + """\
def both(x):
    return net(x).mean()

loss = paddle.jit.to_static(both, input_spec=[paddle.static.InputSpec([2, 3])]).outputs[0]
"""
)


def test_a_script_is_asked_about_as_without_the_mark(gradtool: Run, model: Write) -> None:
    why = gradtool("why", model(SCRIPT))
    assert why.code == 0
    assert "net.first.weight   grad = None   verdict: DETACHED" in why.out
    assert "model.py:13    h = h.detach()" in why.out
    assert "2 of 4 parameters get a gradient" in gradtool("backward", "model.py").out
    assert why.out == gradtool("why", model(SCRIPT.replace("    @paddle.jit.to_static\n", "    # as it is\n"))).out


def test_a_marked_function_is_an_entry(gradtool: Run, model: Write) -> None:
    text = "import paddle\n@paddle.jit.to_static\ndef build():\n    w = paddle.to_tensor(2.0, stop_gradient=False)\n"
    done = gradtool("backward", model(text + "    return w * w\n"))
    assert done.code == 0
    assert "build.w" in done.out


def test_a_traced_program_has_the_lines_of_the_user(gradtool: Run, model: Write) -> None:
    done = gradtool("why", model(PROGRAM))
    assert done.code == 0
    # In a program both ways stand, and the one that was taken is cut.
    assert "first.weight   grad = 0   verdict: PRUNED BRANCH" in done.out
    assert "model.py:12" in done.out
    shown = gradtool("graph", "--text", "model.py", "--format", "json")
    sources = {op["source"] for block in shown.data["blocks"] for op in block["operators"]}
    assert sources == {f"model.py:{line}" for line in (11, 12, 14, 18)}


@pytest.mark.usefixtures("dynamic")
def test_a_saved_program_is_a_model(gradtool: Run, folder: Path) -> None:
    names: dict[str, object] = {"__name__": "saved"}
    source = SCRIPT.replace("import paddle\n", "from gradtool import paddle\n").replace("h.detach()", "h * 2")
    (folder / "net.py").write_text(source)
    exec(compile(source, str(folder / "net.py"), "exec"), names)
    paddle.jit.save(names["net"], "net", [paddle.static.InputSpec([2, 3], "float32", "x")])
    shown = gradtool("gradients", "net.pdmodel", "--target", "_generated_var_4", "--inputs", "x", "--run")
    assert shown.code == 0, shown.err
    assert gradtool("graph", "--text", "net.pdmodel").code == 0
    (folder / "tune.py").write_text(
        "import paddle\nnet = paddle.jit.load('net')\nnet.train()\nx = paddle.ones([2, 3])\n"
        "loss = net(x).mean()\nloss.backward()\nnet.eval()\nlost = net(x).mean()\n"
    )
    done = gradtool("backward", "tune.py", "--loss", "loss")
    assert done.code == 0
    assert "4 of 4 parameters get a gradient" in done.out
    assert "NO_GRAD" in gradtool("why", "tune.py", "--loss", "lost").out
