"""Which gradients of parameters a program computes already, where it holds several backward parts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from gradtool import paddle
from gradtool.engine.autodiff.existing_gradients import gradients_of_parameters


@pytest.fixture(autouse=True)
def program() -> Iterator[Any]:
    paddle.enable_static()
    with paddle.static.program_guard(paddle.static.Program(), paddle.static.Program()):
        yield paddle.static.default_main_program()
    paddle.disable_static()


def parameter(name: str) -> Any:
    return paddle.static.create_parameter([3], "float32", name=name)


def called(loss: Any) -> dict[str, str] | None:
    there = gradients_of_parameters(loss)
    return None if there is None else {p.name: g.name for p, g in there.items()}


def test_a_loss_that_nothing_differentiates() -> None:
    w = parameter("w")
    score = (w * w).sum()
    (g,) = paddle.static.gradients(score, [w])
    loss = (g * g).sum()
    assert called(loss) is None
    assert called(score) == {"w": "w@GRAD"}
    ((_, whole),) = paddle.static.append_backward(loss)
    assert called(loss) == {"w": whole.name} != {"w": "w@GRAD"}


def test_two_losses_with_parameters_of_their_own() -> None:
    a, b = parameter("a"), parameter("b")
    first, second = (a * b).sum(), (a * b * b).sum()
    paddle.static.append_backward(first, parameter_list=[a])
    ((_, other),) = paddle.static.append_backward(second, parameter_list=[b])
    assert called(first) == {"a": "a@GRAD", "b": "b@GRAD"}  # no list leaves out what is computed all the same
    assert called(second)["b"] == other.name != "b@GRAD"
