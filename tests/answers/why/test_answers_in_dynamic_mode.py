"""What ``gradtool.why`` answers in small situations, and what it does not say in those beside them."""

from __future__ import annotations

import numpy as np
import pytest

import gradtool
from gradtool import paddle
from gradtool.engine.answers.why.answers import Answer
from gradtool.engine.answers.why.verdicts import Verdict

pytestmark = pytest.mark.usefixtures("dynamic")


def parameter(*numbers: float) -> paddle.Tensor:
    w = paddle.create_parameter([len(numbers)], "float32")
    w.set_value(np.array(numbers, "float32"))
    return w


def answer(loss: paddle.Tensor, w: paddle.Tensor) -> Answer:
    (told,) = gradtool.why(loss, w)
    assert all(line.strip() for line in str(told).splitlines())
    return told


@pytest.mark.parametrize(
    ("factors", "said"),
    [
        ([1.0, 2.0, 3.0, 4.0], ()),
        ([1.0, 0.0, 3.0, 4.0], ("1 of 4 elements (25 %) are zero",)),
        ([0.0, 0.0, 0.0, 4.0], ("3 of 4 elements (75 %) are zero",)),
    ],
)
def test_what_is_worth_knowing_of_a_gradient_that_is_there(factors: list[float], said: tuple[str, ...]) -> None:
    with gradtool.watching():
        w = parameter(1, 2, 3, 4)
        told = answer((w * paddle.to_tensor(factors)).sum(), w)
    assert told.verdict is (Verdict.NOT_FINITE if "NaN" in "".join(said) else Verdict.OK)
    assert told.said == said


@pytest.mark.parametrize(("bad", "label"), [(float("nan"), "NaN"), (float("-inf"), "infinite")])
def test_a_gradient_that_is_not_finite_is_a_finding(bad: float, label: str) -> None:
    with gradtool.watching():
        w = parameter(1, 2, 3, 4)
        told = answer((w * paddle.to_tensor([0.0, 2.0, bad, bad])).sum(), w)
    assert (told.verdict, told.label, told.finding, told.state) == (Verdict.NOT_FINITE, label, True, f"grad = {label}")
    assert told.said == ("2 of 4 elements are not finite: gradtool nan finds where that was born",)


BACKWARD, CLEAR, STEP = "backward", "clear", "step"
ORDERS = {
    (BACKWARD, STEP, CLEAR): Verdict.OK,
    (BACKWARD, CLEAR, STEP): Verdict.CLEARED,
    (BACKWARD, CLEAR, STEP, CLEAR): Verdict.CLEARED,
    (BACKWARD, CLEAR, STEP, BACKWARD): Verdict.OK,
    (BACKWARD, CLEAR): Verdict.OK,
    (CLEAR, BACKWARD, STEP): Verdict.OK,
    (BACKWARD, STEP, CLEAR, BACKWARD, CLEAR, STEP): Verdict.CLEARED,
    (BACKWARD, CLEAR, STEP, BACKWARD, STEP, CLEAR): Verdict.OK,
    (BACKWARD, BACKWARD, STEP): Verdict.OK,
    (BACKWARD, STEP, BACKWARD, STEP): Verdict.ACCUMULATED,
    (BACKWARD, STEP, BACKWARD): Verdict.OK,
    (BACKWARD, STEP, CLEAR, BACKWARD, STEP): Verdict.OK,
}


@pytest.mark.parametrize("order", ORDERS, ids=" ".join)
def test_orders_of_backward_clearing_and_steps(order: tuple[str, ...]) -> None:
    with gradtool.watching():
        w = parameter(1, 2)
        optimizer = paddle.optimizer.SGD(0.1, parameters=[w])
        for call in order:
            if call == BACKWARD:
                loss = paddle.scale(w.sum(), 3.0)
                loss.backward(retain_graph=True)
            elif call == CLEAR:
                optimizer.clear_grad()
            else:
                optimizer.step()
        told = answer(loss, w)
    assert told.verdict is ORDERS[order]
    assert told.finding == (told.verdict is not Verdict.OK)


@pytest.mark.parametrize("times", [1, 2])
def test_a_leaf_stays_the_same_when_it_is_written_in_place(times: int) -> None:
    with gradtool.watching():
        w = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
        loss = paddle.scale(w, 3.0).sum()
        with paddle.no_grad():
            for _ in range(times):
                w.set_value(np.array([3.0, 4.0], "float32"))
                w.fill_(5.0)
        told = answer(loss, w)
    assert told.verdict is Verdict.OK
    assert told.gradient is not None
    assert told.gradient.norm == pytest.approx(np.sqrt(18.0))


@pytest.mark.parametrize("swapped", [False, True])
def test_a_stopped_operand_beside_one_that_is_trained(swapped: bool) -> None:
    with gradtool.watching():
        w = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
        x = paddle.to_tensor([3.0, 4.0], stop_gradient=True)
        loss = (x * w if swapped else w * x).sum()
        of_w, of_x = gradtool.why(loss, [w, x])
    assert of_w.verdict is Verdict.OK
    assert of_x.verdict in (Verdict.STOP_GRADIENT, Verdict.FROZEN)
    assert of_x.gradient is None


def test_the_way_from_the_loss_to_what_a_dead_relu_cut_off() -> None:
    with gradtool.watching():
        w = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
        h = paddle.tanh(paddle.scale(w, 3.0))
        loss = paddle.exp(paddle.nn.functional.relu(paddle.scale(h, -1.0))).sum()
        told = answer(loss, w)
    assert told.verdict is Verdict.DEAD_RELU
    types = [station.partition(".")[0] for station in told.path[1:-1]]
    assert [t for t in types if t in ("relu", "scale", "tanh")] == ["relu", "scale", "tanh", "scale"]


def test_a_tensor_is_judged_as_it_was_when_it_was_used_beside_one_that_has_a_gradient() -> None:
    with gradtool.watching():
        w, c = parameter(1.0, 2.0), parameter(3.0, 4.0)
        c.stop_gradient = True
        loss = (w * c).sum()
        c.stop_gradient = False
        answers = gradtool.why(loss, [w, c])
    assert [a.verdict for a in answers] == [Verdict.OK, Verdict.STOP_GRADIENT]


def test_one_of_two_results_leads_to_the_loss() -> None:
    with gradtool.watching():
        w = parameter(1.0, 2.0, 3.0, 4.0)
        first, second = paddle.split(w, 2)
        told = answer((first.detach() * 1).sum() + second.sum(), w)
    assert told.verdict is Verdict.OK
    assert told.gradient is not None
    assert told.gradient.zeros == 2
