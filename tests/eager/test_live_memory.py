"""What a backward pass holds: with retain_graph=False it shrinks as the pass walks back through the graph."""

from __future__ import annotations

import gc
import sys
import tracemalloc
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from gradtool import paddle
from gradtool.engine.eager import passes

DEPTH, WIDTH, BATCH = 16, 8, 2048
LAYER = BATCH * WIDTH * 4
"""Bytes that a layer and its tanh keep for backward: the result of the one is the input of the next."""


@pytest.fixture(autouse=True)
def tracing(dynamic: None) -> Iterator[None]:
    yield
    tracemalloc.stop()


def live_bytes(retain_graph: bool) -> list[int]:
    """Bytes allocated since before the forward part: when backward begins, as it enters each layer, and at its end."""
    paddle.seed(0)
    layers = [paddle.nn.Linear(WIDTH, WIDTH) for _ in range(DEPTH)]
    x = paddle.randn([BATCH, WIDTH])
    paddle.mean(paddle.tanh(layers[1](paddle.tanh(layers[0](x))))).backward()  # what is made once
    gc.collect()
    tracemalloc.start()
    sizes: list[int] = []
    h = x
    for layer in layers:
        h = paddle.tanh(layer(h))
        h.register_hook(lambda gradient: sizes.append(tracemalloc.get_traced_memory()[0]))
    loss = paddle.mean(h)
    del h
    before = tracemalloc.get_traced_memory()[0]
    loss.backward(retain_graph=retain_graph)
    after = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    return [before, *sizes, after]


def test_live_bytes_fall_as_nodes_are_consumed() -> None:
    live_bytes(retain_graph=False)  # what is made once
    before, *entering, after = live_bytes(retain_graph=False)
    assert before > DEPTH * LAYER
    assert len(entering) == DEPTH
    assert max(entering) < before + 2 * LAYER  # the gradients that flow
    freed = -np.diff(entering[2:])
    assert (freed > 0.9 * LAYER).all()
    assert after < 0.1 * before


def test_retain_graph_keeps_them() -> None:
    before, *entering, after = live_bytes(retain_graph=True)
    assert min(entering) >= before
    assert after >= before


def test_the_peak_grows_with_the_retained_set_alone() -> None:
    """Twice as deep takes as many more bytes at the peak as in what is retained: what backward adds does not grow."""
    added = []
    for depth in (8, 16):
        layers = [paddle.nn.Linear(WIDTH, WIDTH) for _ in range(depth)]
        x = paddle.randn([BATCH, WIDTH])
        gc.collect()
        tracemalloc.start()
        h = x
        for layer in layers:
            h = paddle.tanh(layer(h))
        loss = paddle.mean(h)
        del h
        retained = tracemalloc.get_traced_memory()[0]
        tracemalloc.reset_peak()
        loss.backward()
        added.append(tracemalloc.get_traced_memory()[1] - retained)
        tracemalloc.stop()
    assert abs(added[1] - added[0]) < LAYER


def test_a_sum_takes_the_memory_of_its_first_gradient(monkeypatch: pytest.MonkeyPatch) -> None:
    x = paddle.randn([BATCH, WIDTH])
    x.stop_gradient = False

    def peak() -> tuple[int, Any]:
        y = x * 2.0
        loss = paddle.add_n([paddle.sum(y * factor) for factor in (1.5, 2.5, 3.5)])
        gc.collect()
        tracemalloc.start()
        (gradient,) = paddle.grad(loss, y, retain_graph=True)
        loss.backward()
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        np.testing.assert_array_equal(gradient.numpy(), np.full([BATCH, WIDTH], 7.5, "float32"))
        values = x.grad.numpy()
        x.clear_gradient(False)
        return most, values

    peak()  # what is made once
    most, values = peak()
    monkeypatch.setattr(passes, "TAKEN_OVER", sys.maxsize)
    more, expected = peak()
    assert most < more - 0.9 * LAYER
    np.testing.assert_array_equal(values, expected)


def test_a_sum_leaves_gradients_alone_that_others_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(passes, "TAKEN_OVER", 0)
    x = paddle.ones([4, 4])
    x.stop_gradient = False
    y = x * 1.0
    given, seen = paddle.full([4, 4], 3.0), []
    held = [y + 0.0, y + 0.0, y + 0.0]
    for result in held:
        result.retain_grads()
        result.register_hook(seen.append)
    paddle.autograd.backward(held, [given, given, None])
    assert [float(g.numpy().mean()) for g in (given, *seen)] == [3.0, 1.0, 3.0, 3.0]
    assert [float(r.grad.numpy().mean()) for r in held] == [3.0, 3.0, 1.0]
    assert float(x.grad.numpy().mean()) == 7.0
