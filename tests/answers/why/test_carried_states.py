"""Backward through a graph that an earlier backward call freed: what led there, and what is to be done."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from gradtool import paddle
from gradtool.engine.answers.why.answers import Answer
from gradtool.engine.answers.why.failures import explain_failure
from gradtool.engine.answers.why.verdicts import Verdict
from gradtool.engine.core import source
from gradtool.engine.eager.journal import keep_journal
from gradtool.engine.eager.tape import FreedGraphError
from gradtool.paddle import nn

pytestmark = pytest.mark.usefixtures("dynamic")


class Failing:
    """Runs backward and keeps the loss that it began at, and where."""

    def __init__(self) -> None:
        self.loss: paddle.Tensor | None = None
        self.began = source.NOWHERE

    def backward(self, loss: paddle.Tensor) -> None:
        _ = self._note(loss, source.here()), loss.backward()

    def _note(self, loss: paddle.Tensor, at: source.Location) -> None:
        self.loss, self.began = loss, at


def answer(script: Callable[[Failing], None]) -> Answer:
    failing = Failing()
    with source.full_stacks(), keep_journal() as journal, pytest.raises(FreedGraphError) as raised:
        script(failing)
    return explain_failure(raised.value, failing.began, journal, failing.loss)


def a_name(run: Failing) -> None:
    w, h = nn.Linear(2, 2), paddle.zeros([1, 2])
    for _ in range(2):
        h = paddle.tanh(w(h))  # kept
        run.backward(h.sum())


class Cell(nn.Layer):
    def __init__(self) -> None:
        super().__init__()
        self.fc = nn.Linear(2, 2)
        self.state = paddle.zeros([1, 2])

    def forward(self, x: paddle.Tensor) -> paddle.Tensor:
        self.state = paddle.tanh(self.fc(self.state + x))  # kept
        return self.state


def an_attribute(run: Failing) -> None:
    cell = Cell()
    for _ in range(2):
        run.backward(cell(paddle.ones([1, 2])).sum())


def step(cell: nn.Layer, h: paddle.Tensor) -> tuple[paddle.Tensor, paddle.Tensor]:
    h = paddle.tanh(cell(h))
    return h * 2.0, h


def a_result(run: Failing) -> None:
    cell, hidden = nn.Linear(2, 2), paddle.zeros([1, 2])
    for _ in range(2):
        y, hidden = step(cell, hidden)  # kept
        run.backward(y.sum())


def a_sum(run: Failing) -> None:
    w, total = nn.Linear(2, 2), paddle.zeros([])
    for _ in range(2):
        total = total + paddle.tanh(w(paddle.ones([1, 2]))).sum()  # kept
        run.backward(total)


@pytest.mark.parametrize(
    ("script", "name"), [(a_name, "h"), (an_attribute, "self.state"), (a_result, "hidden"), (a_sum, "total")]
)
def test_a_state_that_is_kept_is_to_be_detached(script: Callable[[Failing], None], name: str) -> None:
    told = answer(script)
    assert told.verdict is Verdict.FREED
    assert told.code.endswith("# kept")
    assert told.said == (f"{name} is kept from the last step with its graph, which the backward of that step freed",)
    assert told.advice.startswith(f"detach the state held in {name} ")
    assert "retain_graph" not in told.advice


def test_a_list_that_grows_gets_detached_copies() -> None:
    def script(run: Failing) -> None:
        w, memory = nn.Linear(2, 2), []
        for _ in range(2):
            h = paddle.tanh(w(paddle.ones([1, 2])))
            memory.append(h)
            run.backward(paddle.stack(memory).sum())

    told = answer(script)
    assert told.code == "memory.append(h)"
    assert told.advice == "detach the state: add a detached copy to memory (….detach())"


def test_two_losses_of_one_graph_are_added() -> None:
    def script(run: Failing) -> None:
        h = paddle.tanh(nn.Linear(2, 2)(paddle.ones([1, 2])))
        first, second = h.sum(), h.square().sum()
        first.backward()
        run.backward(second)

    told = answer(script)
    assert told.advice == "one backward of the sum of both, or retain_graph=True in the first"
    assert told.code == "first.backward()"


def test_what_is_made_after_the_first_backward_may_be_detached_for_it() -> None:
    def script(run: Failing) -> None:
        fake = paddle.tanh(nn.Linear(2, 2)(paddle.ones([1, 2])))
        judge = nn.Linear(2, 1)
        judge(fake).sum().backward()
        run.backward(judge(fake).mean())

    told = answer(script)
    assert told.code.startswith("fake = ")
    assert told.advice == "detach fake where the first loss uses it, or retain_graph=True in the first backward"


def test_one_loss_twice_is_to_be_computed_anew() -> None:
    def script(run: Failing) -> None:
        loss = paddle.tanh(nn.Linear(2, 2)(paddle.ones([1, 2]))).sum()
        for _ in range(2):
            run.backward(loss)

    told = answer(script)
    assert told.advice.startswith("compute the loss anew before each backward call")


def test_without_a_journal_both_calls_are_told() -> None:
    loss = paddle.tanh(nn.Linear(2, 2)(paddle.ones([1, 2]))).sum()
    loss.backward()
    with pytest.raises(FreedGraphError, match="pass retain_graph=True to it") as raised:
        loss.backward()
    told = explain_failure(raised.value, source.here())
    assert [what for what, _ in told.places] == ["freed by", "needed by", "made at"]
    assert told.advice == "one backward of the sum of both, or retain_graph=True in the first"


def test_the_error_itself_says_to_detach_where_one_line_runs_backward_again() -> None:
    w = nn.Linear(2, 2)

    def step(h: paddle.Tensor) -> paddle.Tensor:
        h = paddle.tanh(w(h))
        h.sum().backward()
        return h

    state = step(paddle.zeros([1, 2]))
    with pytest.raises(FreedGraphError, match=r"detach the state that is kept from it"):
        step(state)


def carried_by_a_step(run: Failing) -> None:
    w = nn.Linear(2, 2)

    def step(h: paddle.Tensor) -> paddle.Tensor:
        new = paddle.tanh(w(h))
        run.backward(new.sum())
        return new

    state = paddle.zeros([1, 2])
    for _ in range(2):
        state = step(state)  # kept


def test_a_state_that_goes_round_outside_of_the_step_is_told_there() -> None:
    told = answer(carried_by_a_step)
    assert told.code.endswith("# kept")
    assert told.advice.startswith("detach the state held in state ")
