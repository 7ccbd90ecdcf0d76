"""``gradtool nan``: forms, options, and what it says of training loops."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from jsonschema import Draft202012Validator

import gradtool
from gradtool import paddle
from gradtool.cli import main as command_line
from tests.cli.conftest import Run, Write

SCHEMA = json.loads((Path(command_line.__file__).parent / "schemas" / "nan.json").read_text(encoding="utf-8"))

BROKEN = """\
import paddle
x = paddle.to_tensor([0.0, 4.0, 9.0], stop_gradient=False)
h = x * 1.0
loss = paddle.sqrt(h).sum()
"""

LOOP = """\
import paddle
w = paddle.to_tensor([4.0], stop_gradient=False)
loss = None

def step():
    global loss
    loss = (1.0 / w).sum()
    loss.backward()
    with paddle.no_grad():
        w.set_value(w - 1.0)
    w.clear_grad()
"""

STATIC = """\
import paddle
paddle.enable_static()
x = paddle.static.data("x", [2], "float32")
x.stop_gradient = False
w = paddle.static.create_parameter([2], "float32", default_initializer=paddle.nn.initializer.Constant(1.0))
unused = paddle.exp(x)
loss = paddle.sum(paddle.log(x * w))
"""


def test_the_story_as_text(gradtool: Run, model: Write) -> None:
    done = gradtool("nan", model(BROKEN))
    assert (done.code, done.err) == (1, "")
    assert done.out == (
        "BIRTH  backward  sqrt_grad.0   h@GRAD  inf 1/3   model.py:4   loss = paddle.sqrt(h).sum()\n"
        "   cause      0.5·dout/out with out = 0 in 1 of 3 elements (the forward value is finite)\n"
        "   advice     at 0 the slope of a square root is infinite (so in norms and standard deviations): "
        "add an epsilon under it\n"
        "   carriers   1 later op; no finite gradient: x\n"
        "   forward    clean (3 tensors checked, 0 unchecked)\n"
        "   backward   1 birth (3 tensors checked, 0 unchecked)\n"
        "next: gradtool graph --where sqrt_grad.0 model.py · gradtool stats model.py · "
        "gradtool graph model.py --pairs\n"
    )


@pytest.mark.parametrize("form", ["json", "tsv", "markdown"])
def test_the_story_in_other_forms(gradtool: Run, model: Write, form: str) -> None:
    done = gradtool("nan", model(BROKEN), "--format", form)
    assert done.code == 1
    if form == "json":
        data = json.loads(done.out)
        Draft202012Validator(SCHEMA).validate(data)
        assert data["victims"] == ["x@GRAD"]
        assert data["births"][0]["source"] == {"file": "model.py", "line": 4, "text": "loss = paddle.sqrt(h).sum()"}
    else:
        assert "sqrt" in done.out
        assert "model.py:4" in done.out


def test_a_clean_model(gradtool: Run, model: Write) -> None:
    done = gradtool("nan", model(BROKEN.replace("0.0, 4.0", "1.0, 4.0")))
    assert done.code == 0
    assert done.out.startswith("CLEAN  no finding · 1 backward pass\n   forward    clean (3 tensors checked")


def test_steps_of_training(gradtool: Run, model: Write) -> None:
    done = gradtool("nan", model(LOOP), "--steps", "9", "--format", "json")
    data = json.loads(done.out)
    assert done.code == 1
    assert data["steps"] == 5
    first = data["births"][0]
    assert (first["type"], first["step"], first["source"]["line"]) == ("elementwise_div", 5, 7)
    assert gradtool("nan", "model.py", "--steps", "4").code == 0


def test_steps_need_something_to_repeat(gradtool: Run, model: Write) -> None:
    done = gradtool("nan", model(BROKEN), "--steps", "3")
    assert done.code == 2
    assert "has no function step()" in done.err


def test_overflow_and_subnormal_numbers_on_request(gradtool: Run, model: Write) -> None:
    text = BROKEN.replace("0.0, 4.0", "1e6, 1e-39")
    assert gradtool("nan", model(text)).code == 0
    big = json.loads(gradtool("nan", "model.py", "--big", "1e4", "--format", "json").out)
    first = big["births"][0]
    assert (first["kind"], first["part"], first["tensor"]) == ("overflow", "data", "x")
    assert first["cause"] == "no operator made it: scale reads it as it came in"
    small = json.loads(gradtool("nan", "model.py", "--subnormal", "--format", "json").out)
    assert small["births"][0]["kind"] == "subnormal"


def test_a_fed_program_and_what_was_not_run(gradtool: Run, model: Write, folder: Path) -> None:
    np.savez(folder / "feed.npz", x=np.array([1.0, 0.0], "float32"))
    done = gradtool("nan", model(STATIC), "--feed", "feed.npz", "--format", "json", "-q")
    data = json.loads(done.out)
    assert done.code == 1
    first = data["births"][0]
    assert (first["part"], first["operator"], first["tensor"]) == ("forward", "log.0", "log_0.tmp_0")
    assert data["births"][0]["reached_loss"]
    assert data["unchecked"] == ["1 operator not run, since neither the loss nor a gradient needs it: exp"]


def test_second_order(gradtool: Run, model: Write) -> None:
    text = BROKEN.replace("paddle.sqrt(h)", "(h ** 1.5)")
    assert gradtool("nan", model(text)).code == 0
    done = gradtool("nan", "model.py", "--order", "2", "--format", "json")
    assert done.code == 1
    assert json.loads(done.out)["births"][0]["part"] == "backward"
    static = STATIC.replace("paddle.log(x * w)", "(x * w) ** 1.5").replace(
        "stop_gradient = False", "stop_gradient = True"
    )
    model(static + 'import numpy as np\nfeed = {"x": np.array([0.0, 1.0], "float32")}\n')
    assert gradtool("nan", "model.py", "-q").code == 0


def test_the_same_from_python() -> None:
    paddle.disable_static()
    x = paddle.to_tensor([0.0, 4.0], stop_gradient=False)
    y = paddle.sqrt(x).sum()
    for asked in (y, lambda: paddle.sqrt(x).sum()):
        story = gradtool.nan(asked)
        assert [b.type for b in story.births] == ["sqrt_grad"]
        assert str(story).startswith("inf born backward in sqrt_grad, 1 of 2 elements: 0.5·dout/out with out = 0")
    assert x.grad is None
    with pytest.raises(TypeError, match="expected a function"):
        gradtool.nan(3)


DERIVED = """\
import paddle
net = paddle.nn.Linear(1, 1)
def build():
    x = paddle.to_tensor([[0.5]], stop_gradient=False)
    (slope,) = paddle.grad(net(x).sum(), x, create_graph=True)
    return paddle.sqrt((slope * 0).sum()), net
"""


def test_a_derivative_in_the_loss_is_not_taken_for_its_backward_pass(gradtool: Run, model: Write) -> None:
    done = gradtool("nan", model(DERIVED), "--format", "json")
    assert done.code == 1
    assert [b["type"] for b in done.data["births"]] == ["sqrt_grad"]
    saved = gradtool("stats", "--memory", "model.py", "--format", "json").data
    assert "sqrt_grad.0" in {reader for b in saved["buffers"] for reader in b["readers"]}


def test_a_number_of_steps_does_not_count_derivatives(gradtool: Run, model: Write) -> None:
    text = DERIVED + "loss, _ = build()\nloss.backward()\n"
    done = gradtool("nan", model(text), "--steps", "1", "--format", "json")
    assert [b["type"] for b in done.data["births"]] == ["sqrt_grad"]


def test_the_same_of_a_function_from_python() -> None:
    paddle.disable_static()
    x = paddle.to_tensor([0.5], stop_gradient=False)

    def loss() -> paddle.Tensor:
        (slope,) = paddle.grad((x * x).sum(), x, create_graph=True)
        return paddle.sqrt((slope * 0).sum())

    assert [b.type for b in gradtool.nan(loss).births] == ["sqrt_grad"]
