"""The journal of dynamic mode: what it holds, and that nothing is left of it afterwards."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator

import pytest

import gradtool as paddle
from gradtool._journal import keeping_journal
from gradtool.engine.eager import backward, pylayer
from gradtool.engine.eager.recipe import Recipe, recipes
from gradtool.engine.eager.tensor import Tensor
from gradtool.engine.errors import UsageError
from gradtool.engine.why.verdicts import Verdict


@pytest.fixture(autouse=True)
def dynamic() -> Iterator[None]:
    paddle.disable_static()
    yield
    paddle.enable_static()


def usual() -> list[object]:
    """The functions that a journal has stand-ins for."""
    methods = [Tensor.__dict__[n] for n in ("__init__", "detach", "numpy", "write", "stop_gradient", "grad")]
    return [*methods, backward.store, backward.grad, pylayer._record, Recipe.__init__]


def test_nothing_is_left_afterwards() -> None:
    before = usual()
    with keeping_journal() as journal:
        w = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
        paddle.tanh(w)
        assert usual() != before
    assert usual() == before
    assert not any(hasattr(r.record, "usual") for r in recipes.values())
    count = len(journal.calls)
    paddle.tanh(w)
    assert len(journal.calls) == count


def test_nothing_is_left_after_an_error() -> None:
    before = usual()
    with pytest.raises(ZeroDivisionError), keeping_journal():
        raise ZeroDivisionError
    assert usual() == before


def test_what_keeps_calls_from_being_recorded() -> None:
    with keeping_journal() as journal:
        w = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
        paddle.tanh(w)
        with paddle.no_grad():
            paddle.exp(w)
        paddle.argmax(w)
        w.detach()
        paddle.tanh(paddle.to_tensor([1.0]))
    assert [c.why for c in journal.calls] == [
        None,
        Verdict.NO_GRAD,
        Verdict.NON_DIFFERENTIABLE,
        Verdict.DETACHED,
        None,
    ]
    assert [c.key is not None for c in journal.calls] == [True, False, False, False, False]


def test_tensors_are_let_go_of() -> None:
    with keeping_journal():
        w = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
        h = paddle.tanh(w)
        gone = weakref.ref(h)
        del h
        gc.collect()
        assert gone() is None


def test_asking_outside_of_it() -> None:
    w = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
    with pytest.raises(UsageError, match="nothing was noted"):
        paddle.why(w.sum(), w)


def test_asking_in_python() -> None:
    with paddle.watching():
        net = paddle.nn.Linear(2, 3)
        spare = paddle.nn.Linear(2, 2)
        x = paddle.ones([4, 2])
        loss = (net(x).detach() + net.bias).mean()
        found = {a.name: a for a in paddle.why(loss, [net.weight, net.bias, spare.weight], contributions=True)}
    assert found[net.weight.name].verdict is Verdict.DETACHED
    assert found[spare.weight.name].verdict is Verdict.UNUSED
    bias = found[net.bias.name]
    assert (bias.verdict, len(bias.parts)) == (Verdict.OK, 1)
    assert bias.parts[0].cosine == pytest.approx(1.0)
    assert "verdict: DETACHED" in str(found[net.weight.name])
