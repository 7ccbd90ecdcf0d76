"""The optimizers that Paddle 3 added take the steps that it takes, in programs too."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from gradtool import paddle
from tests.paddle.optimizer.record_newer import CASES, CLOSED, OUT, names, run

RECORDED = json.loads(OUT.read_text(encoding="utf-8"))


@pytest.mark.usefixtures("dynamic")
@pytest.mark.parametrize("call", [*CASES, *CLOSED])
def test_the_path_is_paddles(call: str) -> None:
    for mine, theirs in zip(run(paddle, call), RECORDED[call], strict=True):
        for ours, expected in zip(mine, theirs, strict=True):
            np.testing.assert_allclose(ours, expected, rtol=5e-6, atol=1e-8)


def programs_path(call: str) -> list[list[Any]]:
    """What three runs of a program with that optimizer make of a parameter."""
    with paddle.static.program_guard(paddle.static.Program(), paddle.static.Program()):
        start = paddle.nn.initializer.Assign(np.array([0.5, -1.0, 2.0]))
        x = paddle.static.create_parameter([3], "float64", default_initializer=start)
        eval(call, {"p": [x], **names(paddle)}).minimize((x * x * x).sum())
        executor = paddle.static.Executor()
        executor.run(paddle.static.default_startup_program())
        return [executor.run(fetch_list=[x])[0].tolist() for _ in range(3)]


@pytest.mark.parametrize("call", CASES)
def test_a_program_takes_the_same_steps(call: str) -> None:
    in_program = programs_path(call)
    paddle.disable_static()
    x = paddle.create_parameter([3], "float64")
    x.set_value(np.array([0.5, -1.0, 2.0]))
    optimizer = eval(call, {"p": [x], **names(paddle)})
    for expected in in_program:
        (x * x * x).sum().backward()
        optimizer.step()
        optimizer.clear_grad()
        np.testing.assert_allclose(x.numpy(), expected, rtol=1e-5)  # the rate is float32 here
    paddle.enable_static()


@pytest.mark.usefixtures("dynamic")
@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("RAdam(-0.1, parameters=p)", "Invalid learning rate: -0.1"),
        ("RAdam(beta1=1.0, parameters=p)", "Invalid beta1: 1.0"),
        ("NAdam(momentum_decay=-1.0, parameters=p)", "Invalid momentum_decay value: -1.0"),
        ("ASGD(batch_num=0, parameters=p)", "batch_num should be greater than 0"),
        ("Rprop(100.0, parameters=p)", "learning_rate_range"),
        ("Rprop(0.1, parameters=p, etas=(1.1, 1.2))", "etas"),
    ],
)
def test_settings_that_are_refused(call: str, message: str) -> None:
    with pytest.raises(ValueError, match=message.replace("(", r"\(")):
        eval(call, {"p": [paddle.create_parameter([1], "float32")], **names(paddle)})


@pytest.mark.usefixtures("dynamic")
def test_states_go_on_where_they_were_left() -> None:
    def path(call: str, restart: bool) -> list[Any]:
        x = paddle.create_parameter([2], "float64")
        x.set_value(np.array([1.0, 2.0]))
        optimizer = eval(call, {"p": [x], **names(paddle)})

        def closure() -> Any:
            optimizer.clear_grad()
            loss = (x**4).sum()
            loss.backward()
            return loss

        for step in range(4):
            if restart and step == 2:
                saved = optimizer.state_dict()
                optimizer = eval(call, {"p": [x], **names(paddle)})
                optimizer.set_state_dict(saved)
            if "LBFGS" not in call:
                closure()
            optimizer.step(*[closure] if "LBFGS" in call else [])
        return x.tolist()  # type: ignore[no-any-return]

    for call in (
        "RAdam(0.1, parameters=p)",
        "NAdam(0.1, parameters=p)",
        "ASGD(0.01, 3, p)",
        "Rprop(0.1, parameters=p)",
        "LBFGS(0.1, 1, parameters=p)",
    ):
        assert path(call, False) == path(call, True), call


@pytest.mark.usefixtures("dynamic")
def test_lbfgs_refuses() -> None:
    x = paddle.create_parameter([1], "float32")
    with pytest.raises(RuntimeError, match="only 'strong_wolfe'"):
        paddle.optimizer.LBFGS(line_search_fn="armijo", parameters=[x]).step(lambda: x.sum())
    with pytest.raises(NotImplementedError, match="step\\(closure\\)"):
        paddle.optimizer.LBFGS(parameters=[x]).minimize(x.sum())
    with pytest.raises(TypeError, match="iterable of Tensors"):
        paddle.optimizer.LBFGS(parameters=x)


@pytest.mark.usefixtures("dynamic")
def test_other_names_of_what_optimizers_do() -> None:
    x = paddle.create_parameter([1], "float32")
    sgd = paddle.optimizer.SGD(0.1, parameters=[x])
    x.sum().backward()
    sgd.zero_grad(set_to_none=False)
    assert x.grad.numpy().tolist() == [0.0]
    sgd.zero_grad()
    assert x.grad is None
    sgd.load_state_dict(sgd.state_dict())


def test_a_schedule_may_say_which_attributes_are_its_state() -> None:
    class Noted(paddle.optimizer.lr.LRScheduler):
        def __init__(self) -> None:
            self.note = 1
            super().__init__(0.1)

        def state_keys(self) -> None:
            self.keys = ["last_epoch", "note"]

        def get_lr(self) -> float:
            return self.base_lr

    schedule, other = Noted(), Noted()
    schedule.note = 7
    assert schedule.state_dict() == {"last_epoch": 0, "note": 7}
    other.set_state_dict(schedule.state_dict())
    assert other.note == 7
    assert paddle.optimizer.lr.StepDecay(0.1, 3).state_dict() == {"last_epoch": 0, "last_lr": 0.1}
