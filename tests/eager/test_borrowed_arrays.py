"""What a freed graph may need again is held as it is, and copied before somebody writes it."""

from __future__ import annotations

import gc
import tracemalloc
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np
import pytest

from gradtool import paddle
from gradtool.engine.eager import borrowed_arrays
from gradtool.engine.eager.recorded_calls import nodes_behind
from gradtool.engine.eager.tape import as_they_were, keep_graphs, restore
from gradtool.engine.runs.recorder import Recorder

pytestmark = pytest.mark.usefixtures("dynamic")

SIZE = 1 << 14

Write = Callable[[Any, Any], object]

WRITES: dict[str, Write] = {
    "an operator in place": lambda w, h: w.detach().add_(paddle.ones_like(w)),
    "a view": lambda w, h: w.detach()[3:5].fill_(7.0),
    "an item": lambda w, h: w.detach().__setitem__(slice(0, 2), 9.0),
    "set_value": lambda w, h: w.set_value(np.zeros(SIZE, "float32")),
    "a result": lambda w, h: h.detach().scale_(3.0),
    "an optimizer": lambda w, h: paddle.optimizer.SGD(1.0, parameters=[w]).step(),
    "Adam": lambda w, h: paddle.optimizer.Adam(1.0, parameters=[w]).step(),
}


def _run(values: Any) -> tuple[Any, Any, Any]:
    w = paddle.base.framework.EagerParamBase.from_tensor(paddle.to_tensor(values))
    w.stop_gradient = False
    h = paddle.exp(w)
    return w, h, (h * w).sum()


@pytest.mark.parametrize("write", WRITES)
def test_a_graph_that_comes_back_has_the_values_before_a_write(write: str) -> None:
    values = np.linspace(-1, 1, SIZE).astype("float32")
    w, h, loss = _run(values)
    with keep_graphs():
        loss.backward()
    expected = w.grad.numpy().copy()
    WRITES[write](w, h)
    nodes = nodes_behind([loss])
    with as_they_were(nodes):
        assert restore(nodes)
        (gradient,) = paddle.grad(loss, w, retain_graph=True)
    np.testing.assert_array_equal(gradient.numpy(), expected)


def test_memory_that_others_have_is_copied_at_once() -> None:
    w, h, loss = _run(np.linspace(-1, 1, SIZE).astype("float32"))
    h.detach().data_ptr()
    with keep_graphs():
        loss.backward()
    expected = w.grad.numpy().copy()
    h.array[:] = 0  # as whoever has the address writes
    nodes = nodes_behind([loss])
    with as_they_were(nodes):
        assert restore(nodes)
        (gradient,) = paddle.grad(loss, w, retain_graph=True)
    np.testing.assert_array_equal(gradient.numpy(), expected)


def test_holding_a_graph_takes_no_memory_until_it_is_written() -> None:
    def count_bytes(keeping: AbstractContextManager[Any]) -> int:
        w, _, loss = _run(np.linspace(-1, 1, 1 << 18).astype("float32"))
        tracemalloc.start()
        with keeping:
            loss.backward()
        w.clear_gradient(False)
        held = tracemalloc.get_traced_memory()[0]
        tracemalloc.stop()
        return held

    count_bytes(nullcontext())  # kernels may keep memory that they have freed, to use it again
    plain = count_bytes(nullcontext())
    assert count_bytes(keep_graphs()) < plain + (1 << 18) / 2


def test_nobody_is_noted_as_a_holder_when_graphs_are_gone() -> None:
    gc.collect()
    before = len(borrowed_arrays.holders)
    with keep_graphs():
        _, _, loss = _run(np.linspace(-1, 1, SIZE).astype("float32"))
        loss.backward()
    assert len(borrowed_arrays.holders) > before
    del loss, _
    gc.collect()
    assert len(borrowed_arrays.holders) == before


def test_a_record_without_gradients_holds_those_of_leaves() -> None:
    recorders = [Recorder(), Recorder(holds_gradients=False)]
    held: list[list[Any]] = []
    for recorder in recorders:
        w = paddle.to_tensor(np.linspace(-1, 1, SIZE).astype("float32"), stop_gradient=False)
        with recorder.record():
            (paddle.exp(w) * w).sum().backward()
        work = recorder.last
        assert work is not None
        gradient = recorder.store.get(work.totals[w.leaf])
        parts = [n for event in work.events for n in getattr(event, "outs", ())]
        held.append([n for n in parts if n in recorder.store])
        assert gradient is None or gradient.shape == (SIZE,)
    assert len(held[1]) < len(held[0])
