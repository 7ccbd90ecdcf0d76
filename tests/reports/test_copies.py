"""Parameters whose gradients stay with a copy or a cached parametrization: the cause is named, the advice helps."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.torch.answers import RUNS, answered

PADDLE = """\
import copy

import paddle

net = paddle.nn.Linear(3, 1)
inner = copy.deepcopy(net)
loss = paddle.nn.functional.mse_loss(inner(paddle.rand([5, 3])), paddle.rand([5, 1]))
loss.backward()
"""
COPIED = "the loss was computed with a deep copy of it, made at"


@pytest.mark.parametrize(
    ("name", "sentences"),
    [
        (
            "b_deep_copied",
            [
                f"{COPIED} b_deep_copied.py:15, and no gradient goes from a copy to what it copies",
                "compute the loss with it, or by torch.func.functional_call with parameters that are computed from it",
            ],
        ),
        (
            "b_cached_under_no_grad",
            [
                "parametrize.cached() keeps what was computed there under no_grad, and the loss is computed from that",
                "enter parametrize.cached() anew for each loss, and only around its forward pass",
            ],
        ),
        (
            "b_cached_over_steps",
            [
                "parametrize.cached() keeps what this line computed before the first backward call, which freed its",
                "enter parametrize.cached() anew for each loss, and only around its forward pass",
            ],
        ),
    ],
)
def test_the_cause_is_named(gradtool: Run, name: str, sentences: list[str]) -> None:
    said = gradtool("why", str(RUNS / f"{name}.torchrun")).out
    assert [s for s in sentences if s not in said] == []


@pytest.mark.parametrize("name", ["r_inner_step", "r_cached"])
def test_the_advice_helps(name: str) -> None:
    assert answered(RUNS / f"{name}.torchrun") == []


def test_a_copied_layer_of_paddle_is_named(gradtool: Run, folder: Path) -> None:
    (folder / "model.py").write_text(PADDLE, "utf-8")
    said = gradtool("why", "model.py").out
    assert f"{COPIED} model.py:6" in said
    (folder / "model.py").write_text(PADDLE.replace("copy.deepcopy(net)", "net"), "utf-8")
    assert COPIED not in gradtool("why", "model.py").out


def test_a_copy_that_the_loss_does_not_use_is_not_named(gradtool: Run, folder: Path) -> None:
    (folder / "model.py").write_text(PADDLE.replace("mse_loss(inner", "mse_loss(paddle.nn.Linear(3, 1)"), "utf-8")
    assert COPIED not in gradtool("why", "model.py").out
