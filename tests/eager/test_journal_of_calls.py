"""The journal of dynamic mode: what it holds, and that nothing is left of it afterwards."""

from __future__ import annotations

import contextlib
import contextvars
import gc
import weakref
from typing import Any

import pytest

import gradtool
from gradtool import paddle
from gradtool.engine.answers.why.verdicts import Verdict
from gradtool.engine.core import watch
from gradtool.engine.core.errors import UsageError
from gradtool.engine.eager.journal import Journal, current, keep_journal
from gradtool.engine.eager.journal_entries import Unrecorded
from gradtool.engine.eager.recipe import recipes
from gradtool.engine.eager.recorded_calls import nodes_behind
from gradtool.engine.ops.registry import get_by_type

pytestmark = pytest.mark.usefixtures("dynamic")


def test_nothing_is_left_afterwards() -> None:
    before = {op: r.record for op, r in recipes.items()}
    with keep_journal() as journal:
        w = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
        paddle.tanh(w)
        assert watch.noting == 1
        assert all(recipes[op].record is not record for op, record in before.items())
    assert watch.noting == 0
    assert current() is None
    assert all(r.record is before.get(op, r.written) for op, r in recipes.items())
    count = len(journal.calls)
    paddle.tanh(w).detach()
    assert len(journal.calls) == count


def test_nothing_is_left_after_an_error() -> None:
    with pytest.raises(ZeroDivisionError), keep_journal():
        raise ZeroDivisionError
    assert watch.noting == 0
    assert all(r.record is r.written for r in recipes.values())


def test_operators_first_used_inside_are_noted_inside_only() -> None:
    op = get_by_type("atanh")
    recipes.pop(op, None)
    x = paddle.to_tensor([0.5], stop_gradient=False)
    with keep_journal() as journal:
        paddle.atanh(x)
    paddle.atanh(x)
    assert [c.type for c in journal.calls] == ["atanh"]


def test_functions_that_remember_are_noted_call_by_call() -> None:
    x = paddle.to_tensor([[0.5, 1.0]], stop_gradient=False)
    paddle.reshape(x, [2, 1])
    with keep_journal() as journal:
        y = paddle.reshape(x, [2, 1])
    paddle.reshape(x, [2, 1])
    assert [c.type for c in journal.calls] == ["reshape2"]
    assert journal.calls[0].writes[0] == journal.number(y)


def test_operators_with_lists_that_are_mostly_empty_are_noted_once() -> None:
    x = paddle.to_tensor([[0.5, 1.0]], stop_gradient=False)
    with keep_journal() as journal:
        paddle.reshape(x, [paddle.to_tensor(2), 1])
    assert [c.type for c in journal.calls].count("reshape2") == 1


def test_a_journal_inside_a_journal_is_the_same_one() -> None:
    with keep_journal() as journal, gradtool.watching() as inner:
        assert inner is journal
        assert watch.noting == 1


def test_steps_and_tensors_are_told_to_several_at_once() -> None:
    first: list[object] = []
    second: list[object] = []
    with watch.watch(first.append, tensors=second.append), keep_journal() as journal, watch.watch(second.append):
        paddle.tanh(paddle.to_tensor([1.0]))
    assert [type(e).__name__ for e in first] == ["Computed"]
    assert [type(e).__name__ for e in second] == ["Made", "Computed", "Called"]
    assert [c.type for c in journal.calls] == ["tanh"]


def test_a_cut_is_spared_if_one_of_several_says_so() -> None:
    x = paddle.to_tensor([1.0], stop_gradient=False)
    for one, other in ((True, False), (False, True)):
        with (
            watch.watch(tensors=lambda event, a=one: isinstance(event, watch.Cutting) and a),  # type: ignore[misc]
            watch.watch(tensors=lambda event, a=other: a),  # type: ignore[misc]
        ):
            assert not x.detach().stop_gradient
    assert x.detach().stop_gradient


@pytest.mark.parametrize("how", ["detach", "no_grad", "stop_gradient", "trainable", "PyLayer"])
def test_a_line_that_is_spared_cuts_nothing(how: str) -> None:
    net = paddle.nn.Linear(2, 2)
    w = net.weight

    class Double(paddle.autograd.PyLayer):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 2.0

        @staticmethod
        def backward(ctx: Any, dy: Any) -> Any:
            return dy * 2.0

    def model() -> Any:
        h = w * 1.0
        if how == "detach":
            h = h.detach()
        if how == "stop_gradient":
            h.stop_gradient = True
        if how == "trainable":
            w.trainable = False
        with paddle.no_grad():
            if how == "no_grad":
                h = h * 3.0
            if how == "PyLayer":
                h = Double.apply(h)
        return h

    first = model.__code__.co_firstlineno
    h = model()
    assert h.stop_gradient or w.stop_gradient
    w.trainable = True
    with keep_journal({(__file__, n) for n in range(first, first + 14)}):
        h = model()
    assert not h.stop_gradient
    assert not w.stop_gradient


def test_updates_are_noted_as_steps_alone() -> None:
    net = paddle.nn.Linear(2, 2)
    with keep_journal() as journal:
        opt = paddle.optimizer.Adam(parameters=net.parameters())
        net(paddle.ones([1, 2])).sum().backward()
        before = len(journal.calls)
        opt.step()
        opt.clear_grad()
    assert len(journal.calls) == before
    [listing] = journal.listings
    assert listing.leaves == {journal.number(p) for p in net.parameters()}
    assert [e.kind for e in journal.events[journal.number(net.weight)]] == ["added", "step", "cleared"]


def test_written_and_left() -> None:
    with keep_journal() as journal:
        x, y = paddle.ones([2]), paddle.zeros([2])
        y.set_value(x)
        x.reshape_([2, 1])
        x.numpy()
        f"{x.sum():.1f}"
    kinds = [(e.kind, e.how) for e in journal.events[journal.number(y)]]
    assert kinds == [("written", "set_value")]
    left = [
        (e.how, e.into == journal.number(y)) for events in journal.events.values() for e in events if e.kind == "left"
    ]
    assert left == [("set_value", True), ("numpy", False)]
    assert ("written", "reshape_") in [(e.kind, e.how) for e in journal.events[journal.number(x)]]


def test_what_keeps_calls_from_being_recorded() -> None:
    with keep_journal() as journal:
        w = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
        paddle.tanh(w)
        with paddle.no_grad():
            paddle.exp(w)
        paddle.argmax(w)
        w.detach()
        paddle.tanh(paddle.to_tensor([1.0]))
    assert [c.unrecorded for c in journal.calls] == [
        None,
        Unrecorded.NO_GRAD,
        Unrecorded.NO_RULE,
        Unrecorded.COPIED,
        None,
    ]
    assert [c.key is not None for c in journal.calls] == [True, False, False, False, False]


def test_tensors_are_let_go_of() -> None:
    with keep_journal():
        w = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
        h = paddle.tanh(w)
        gone = weakref.ref(h)
        del h
        gc.collect()
        assert gone() is None


def test_what_was_forgotten_is_told() -> None:
    with keep_journal(journal=Journal(limit=10)) as journal:
        w, v = (paddle.to_tensor([1.0, 2.0], stop_gradient=False) for _ in range(2))
        h = paddle.tanh(w)
        for _ in range(25):
            h = paddle.tanh(h)
        answers = gradtool.why(h.sum(), [v, w])
    assert len(journal.calls) < 20
    assert journal.forgotten == 10
    assert answers[0].said[-1].startswith("the first 10 operators of the program were forgotten")
    assert answers[1].said[-1:] == answers[0].said[-1:]


def test_asking_outside_of_it() -> None:
    w = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
    with pytest.raises(UsageError, match="nothing was noted"):
        gradtool.why(w.sum(), w)


def test_asking_in_python() -> None:
    with gradtool.watching():
        net = paddle.nn.Linear(2, 3)
        spare = paddle.nn.Linear(2, 2)
        x = paddle.ones([4, 2])
        loss = (net(x).detach() + net.bias).mean()
        answers = {a.name: a for a in gradtool.why(loss, [net.weight, net.bias, spare.weight], contributions=True)}
    assert answers[net.weight.name].verdict is Verdict.DETACHED
    assert answers[spare.weight.name].verdict is Verdict.UNUSED
    bias = answers[net.bias.name]
    assert (bias.verdict, [p.lost for p in bias.parts]) == (Verdict.OK, ["", "detached"])
    assert bias.parts[0].cosine == pytest.approx(1.0)
    assert "verdict: DETACHED" in str(answers[net.weight.name])


def test_a_journal_goes_on() -> None:
    with keep_journal() as journal:
        w = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
        x = w * 2
    y = x * 3
    with keep_journal(journal=journal) as again:
        z = x.detach()
    assert again is journal
    assert [c.type for c in journal.calls] == ["scale", "detach"]
    assert journal.knows(x, [])
    assert journal.knows(z, [])
    assert not journal.knows(y, [])


def test_a_long_journal_forgets_what_is_no_more() -> None:
    with keep_journal(journal=Journal(limit=10)) as journal:
        w = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
        w.numpy()
        early = loss = (w * w).sum()
        for _ in range(100):
            paddle.to_tensor([1.0], stop_gradient=False)
            loss = (w * w).sum()
            loss.numpy()
    assert journal.forgotten
    assert 10 <= len(journal.calls) < 20
    assert len(journal._places) < 50
    assert len(journal.events) < 50
    assert [e.how for e in journal.events[journal.number(w)]] == ["numpy"]
    assert journal.knows(loss, nodes_behind([loss]))
    assert not journal.knows(early, nodes_behind([early]))


def test_a_graph_that_is_forgotten_in_part_is_not_known() -> None:
    with keep_journal(journal=Journal(limit=10)) as journal:
        x = paddle.to_tensor([1.0], stop_gradient=False)
        for _ in range(25):
            x = x * 1.5
    assert not journal.knows(x, nodes_behind([x]))


def test_watching_may_end_in_another_context() -> None:
    """As in a notebook, whose cells may run as tasks of their own."""
    stack = contextlib.ExitStack()
    contextvars.copy_context().run(lambda: stack.enter_context(keep_journal()))
    stack.close()
    assert watch.noting == 0
    assert current() is None


def test_a_stored_tensor_stays_itself_when_it_is_written() -> None:
    """What has no place on the tape and is not stored holds something else from then on."""
    with keep_journal() as journal:
        stored, passing = paddle.to_tensor([0.0, 0.0]), paddle.to_tensor([0.0, 0.0])
        stored.persistable = True
        before = [journal.number(t) for t in (stored, passing)]
        for tensor in (stored, passing):
            tensor.add_(paddle.to_tensor([1.0, 1.0]))
        after = [journal.number(t) for t in (stored, passing)]
    assert after[0] == before[0]
    assert after[1] != before[1]
