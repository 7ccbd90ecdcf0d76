"""Recorded runs of dynamic mode, computed again as one program on a backend that compiles."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradtool import paddle
from gradtool.engine.kernels.choice import backend
from gradtool.engine.runs import backend_run, of_tape
from gradtool.engine.runs.recorder import Recorder
from gradtool.engine.runs.timeline import Timeline

pytestmark = pytest.mark.usefixtures("dynamic")


def recorded(compute: Any) -> Timeline:
    """The run of one backward pass from what *compute* gives."""
    recorder = Recorder()
    with recorder.record():
        compute().backward()
    return of_tape.timeline(recorder)


def alike(run: Timeline) -> list[str]:
    """Compute *run* on JAX, compare all values, and say what was not compiled."""
    before = [np.array(run.store.get(n)) for n in range(len(run.values)) if n in run.store]
    compiled: Any = backend_run.compute(run, backend("jax"))
    after = [np.array(run.store.get(n)) for n in range(len(run.values)) if n in run.store]
    assert len(before) == len(after)
    for a, b in zip(before, after, strict=True):
        assert a.dtype == b.dtype
        np.testing.assert_allclose(b, a, rtol=2e-5, atol=1e-6)
    return [split.reason for split in compiled.splits()]


def test_values_and_gradients_are_those_of_the_tape() -> None:
    paddle.seed(2)
    net = paddle.nn.Sequential(paddle.nn.Linear(4, 6), paddle.nn.Tanh(), paddle.nn.Linear(6, 3))
    label = paddle.to_tensor([0, 2, 1])
    run = recorded(lambda: paddle.nn.functional.cross_entropy(net(paddle.rand([3, 4])), label) + net[0].weight.sum())
    assert not alike(run)


def test_the_users_own_python_runs_between_compiled_parts() -> None:
    class Twice(paddle.autograd.PyLayer):  # type: ignore[misc,name-defined]
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 2

        @staticmethod
        def backward(ctx: Any, gradient: Any) -> Any:
            return gradient * 2

    w = paddle.to_tensor([1.0, 2.0, 3.0], stop_gradient=False)
    run = recorded(lambda: Twice.apply(paddle.tanh(w) * w).square().sum())
    assert backend_run.OWN in alike(run)


def test_what_was_drawn_stays_as_it_was_drawn() -> None:
    w = paddle.ones([40])
    w.stop_gradient = False
    run = recorded(lambda: (paddle.nn.functional.dropout(w * 3, 0.5) * paddle.rand([40])).sum())
    alike(run)
