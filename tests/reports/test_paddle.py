"""Right answers about the scripts of public reports that import Paddle; advice is applied, and the finding goes."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest

from tests.cli.conftest import Outcome, Run
from tests.sampling import sampled

from . import model

COUNTS = """\
two of three, data first  ValueError
three, None first          ok {'x': None, 'w': [3, 2], 'b': [2]}
two of three, data last    ok {'x': None, 'w': [3, 2], 'b': [2]}
three, None last           ok {'x': None, 'w': [3, 2], 'b': [2]}
three, gradient for data   ValueError
four                       ValueError
one of three, all wanted   ValueError
None for one that wants it ok {'x': [4, 3], 'w': None, 'b': [2]}
"""
"""What paddle_pylayer_counts.py prints in Paddle 3.1.1, without the texts of the errors."""


def changed(folder: Path, name: str, *changes: tuple[str, str]) -> str:
    """Return the name of a copy of a script with texts replaced; each of them stands in it."""
    text = model(name).read_text("utf-8")
    for before, after in changes:
        assert before in text
        text = text.replace(before, after)
    (folder / "changed.py").write_text(text, "utf-8")
    return "changed.py"


def assert_no_finding(done: Outcome) -> None:
    assert done.code == 0, done.out
    assert "No findings" in done.out


CUTS = [
    ("paddle_recompute_data", "recompute at line 6 passes no gradient to body.weight: none of its tensor inputs"),
    ("paddle_pylayer_data", "WholeModel at line 31 passes no gradient to model.0.weight: none of its tensor inputs"),
]


@pytest.mark.parametrize(("name", "sentence"), CUTS)
@pytest.mark.parametrize("command", [(), ("check",), ("why",)])
def test_a_call_whose_inputs_need_no_gradient_is_named(
    gradtool: Run, name: str, sentence: str, command: tuple[str, ...]
) -> None:
    done = gradtool(*command, str(model(name)))
    assert sentence in done.out
    assert "x.stop_gradient = False" in done.out
    assert "no_grad" not in done.out
    assert done.code == (1 if command == ("check",) else 0)


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("paddle_recompute_data", [("recompute(body, x)", "recompute(body, x, use_reentrant=False)")]),
        ("paddle_recompute_data", [("x = paddle.ones([2, 3])", "x = paddle.ones([2, 3]); x.stop_gradient = False")]),
    ],
)
def test_advice_about_recompute_connects_the_gradient(
    gradtool: Run, folder: Path, name: str, changes: list[tuple[str, str]]
) -> None:
    assert_no_finding(gradtool("check", changed(folder, name, *changes)))


def test_an_input_that_needs_a_gradient_has_backward_called(gradtool: Run, folder: Path) -> None:
    change = ("x = paddle.randn([8, 6])", "x = paddle.randn([8, 6]); x.stop_gradient = False")
    done = gradtool("check", changed(folder, "paddle_pylayer_data", change))
    assert "backward of the whole model" in done.out + done.err
    assert "model grad: True" in done.out + done.err


def test_the_line_that_ran_startup_too_early_is_named(gradtool: Run, folder: Path) -> None:
    name = "paddle_startup_before_minimize"
    told = (
        f"startup program ran at {name}.py:7, before minimize at {name}.py:8 added 3 variables to it "
        "(learning_rate_0, fc_0.b_0_velocity_0, fc_0.w_0_velocity_0)"
    )
    for command in ((), ("check",)):
        assert told in gradtool(*command, str(model(name))).out
    startup = "exe.run(paddle.static.default_startup_program())\n"
    minimize = "paddle.optimizer.Momentum(0.1).minimize(loss)\n"
    assert_no_finding(gradtool("check", changed(folder, name, (startup + minimize, minimize + startup))))


def test_gradients_that_minimize_appended_are_no_gap(gradtool: Run) -> None:
    name = str(model("paddle_static_trained"))
    assert "operators not run" not in gradtool(name).out
    assert_no_finding(gradtool("check", name))


FROZEN = [
    (norm, freeze, held)
    for norm, freeze in product(
        ("BatchNorm2D", "BatchNorm", "SyncBatchNorm"), ("p.stop_gradient = True", "p.trainable = False")
    )
    for held in ("model", "head", "trunk", "[p for p in model.parameters() if not p.stop_gradient]")
]


@pytest.mark.parametrize(("norm", "freeze", "held"), sampled(FROZEN, str, 6, lambda case: case[0]))
def test_running_statistics_go_on_in_a_frozen_trunk(
    gradtool: Run, folder: Path, held: str, freeze: str, norm: str
) -> None:
    parameters = held if held.startswith("[") else f"{held}.parameters()"
    parameters += " + head.parameters()" if held == "trunk" else ""
    name = changed(
        folder,
        "paddle_ok_finetune",
        ("p.stop_gradient = True", freeze),
        ("parameters=model.parameters()", f"parameters={parameters}"),
        ("nn.BatchNorm2D(4)", f"nn.{norm}(4)"),
    )
    assert_no_finding(gradtool("check", name))


def test_a_frozen_weight_that_the_script_overwrites_is_found(gradtool: Run, folder: Path) -> None:
    change = ("    opt.step()\n", "    opt.step()\n    trunk[0].weight.set_value(trunk[0].weight * 1.5)\n")
    done = gradtool("check", changed(folder, "paddle_ok_finetune", change))
    assert "GT702" in done.out
    assert "model.0.0.weight is frozen, an optimizer holds it, and this line changes it" in done.out


@pytest.mark.parametrize("command", [(), ("check",), ("why", "w")])
def test_the_argument_that_gets_no_gradient_is_named(gradtool: Run, command: tuple[str, ...]) -> None:
    done = gradtool(*command, str(model("paddle_label_argument")))
    assert "kl_div gives no gradient to its argument label, only to input" in done.out
    assert "softmax in place of argmax" not in done.out


@pytest.mark.filterwarnings("ignore::gradtool.engine.eager.calls.NoGraphWarning")
def test_a_loss_of_which_the_label_alone_is_trained_names_it(gradtool: Run, folder: Path) -> None:
    (folder / "label.py").write_text(
        "import paddle, paddle.nn.functional as F\n"
        "w = paddle.to_tensor([[0.3, 0.7]], stop_gradient=False)\n"
        "loss = F.kl_div(paddle.log(paddle.to_tensor([[0.5, 0.5]])), w, reduction='sum')\n"
        "loss.backward()\n"
    )
    for command in ((), ("check",), ("why", "w")):
        assert "kl_div gives no gradient to its argument label, only to input" in gradtool(*command, "label.py").out


PENALTY = """\
import paddle
import paddle.nn as nn
net = nn.Sequential(nn.Linear(1, 8), nn.ReLU(), nn.Linear(8, 1))
x = paddle.rand([16, 1])
x.stop_gradient = False
u = net(x)
ux = paddle.grad(u, x, create_graph=True)[0]
uxx = paddle.grad(ux, x, create_graph=True)[0]
loss = (uxx + 1).square().mean()
loss.backward()
"""


@pytest.mark.parametrize("layer", ["ReLU", "LeakyReLU", "ReLU6", "Hardtanh"])
def test_an_activation_without_a_second_derivative_is_named(gradtool: Run, folder: Path, layer: str) -> None:
    (folder / "net.py").write_text(PENALTY.replace("ReLU", layer))
    name = {"ReLU": "relu", "LeakyReLU": "leaky_relu", "ReLU6": "relu6", "Hardtanh": "hardtanh"}[layer]
    for command in ((), ("check",)):
        done = gradtool(*command, "net.py")
        assert f"the second derivative of {name} is zero everywhere: at net.py:6" in done.out
    (folder / "net.py").write_text(PENALTY.replace("ReLU", "Tanh"))
    assert "second derivative" not in gradtool("check", "net.py").out


def test_a_layer_takes_the_returns_that_paddle_takes(gradtool: Run) -> None:
    done = gradtool(str(model("paddle_pylayer_counts")))
    assert done.code == 0
    printed = done.err.splitlines()
    for line, expected in zip(printed, COUNTS.splitlines(), strict=True):
        outcome = expected.replace("ValueError", "LayerGradientError")  # a ValueError of our own
        assert line.startswith(outcome)
