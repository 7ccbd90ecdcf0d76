"""Gradients that a ``GradScaler`` scales are judged without its scale."""

from __future__ import annotations

import json

import pytest

from tests.cli.conftest import Run, Write

TRAINING = """
import paddle
paddle.seed(0)
net = paddle.nn.Linear(8, 4)
opt = paddle.optimizer.SGD(0.01, parameters=net.parameters())
scaler = paddle.amp.GradScaler(init_loss_scaling={scale})
with paddle.amp.auto_cast(dtype="float16"):
    loss = net(paddle.rand([4, 8])).square().mean() * {factor}
scaler.scale(loss).backward()
{update}
"""
STEP = "scaler.step(opt)\nscaler.update()"


def training(scale: float, update: str = STEP, factor: float = 1.0) -> str:
    return TRAINING.format(scale=scale, update=update, factor=factor)


def test_a_scale_that_is_taken_off_makes_no_gradient_large(gradtool: Run, model: Write) -> None:
    file = model(training(65536.0))
    assert "No findings" in gradtool("check", file, "--no-cache").out
    told = gradtool("stats", file).out
    assert "nothing to look at" in told
    assert "loss scale 65536: sizes are those before a GradScaler divides by it" in told
    data = json.loads(gradtool("stats", file, "--format", "json").out)
    assert data["loss_scale"] == 65536.0
    assert {row["verdict"] for row in data["rows"]} == {"ok"}
    assert "no findings" in gradtool("why", file).out


def test_a_scale_that_nobody_takes_off_does(gradtool: Run, model: Write) -> None:
    file = model(training(65536.0, "opt.step()"))
    assert "GT203" in gradtool("check", file, "--no-cache").out
    assert "loss scale" not in gradtool("stats", file).out


def test_a_scale_that_is_too_small_is_told(gradtool: Run, model: Write) -> None:
    told = gradtool("check", model(training(2.0, factor=1e-6)), "--no-cache").out
    assert "GT207" in told
    assert "although the loss is scaled by 2: begin with a larger init_loss_scaling" in told


@pytest.mark.usefixtures("dynamic")
def test_functions_of_python_know_the_scale() -> None:
    import gradtool
    from gradtool import paddle

    net = paddle.nn.Linear(2, 1)
    scaler = paddle.amp.GradScaler(init_loss_scaling=1024.0)
    with paddle.amp.auto_cast(dtype="float16"):
        loss = net(paddle.ones([4, 2])).mean()
    scaled = scaler.scale(loss)
    scaled.backward(retain_graph=True)
    assert gradtool.stats(scaled).scale == 1.0  # nobody has taken it off yet
    scaler.step(paddle.optimizer.SGD(0.1, parameters=net.parameters()))
    assert gradtool.stats(scaled).scale == 1024.0
    assert str(gradtool.stats(scaled)).startswith("loss scale: 1024\n")
