"""Operators of PyTorch that gradtool has no operator for are computed again: what is recorded comes out."""

from __future__ import annotations

import numpy as np
import pytest

from gradtool.engine.core import watch
from gradtool.engine.core.errors import UnsupportedError
from gradtool.engine.core.notes import SILENT
from gradtool.engine.loading import loader, opening
from gradtool.engine.recorders.pytorch.operator_calls import again
from gradtool.engine.recorders.recorded.nodes import ForeignOp
from gradtool.engine.request.options import Debug
from gradtool.engine.request.request import Request
from gradtool.engine.runs.recorder import Recorder
from gradtool.engine.runs.timeline import NOBODY, Timeline
from tests.sampling import sampled

from .answers import RUNS, names

RUNNING = [n for n in names() if n.startswith(("g_", "r_"))]


def timeline(name: str) -> Timeline:
    request, recorder = Request(str(RUNS / f"{name}.torchrun")), Recorder()
    with recorder.record(), loader.run_model(request, SILENT) as left, watch.pause_watchers():
        model = opening.model_in(left, request)
        run, _ = type(model).timeline(left, request, recorder, Debug(), SILENT)
    return run


def test_recorded_results_come_out_again() -> None:
    computed: set[str] = set()
    for name in sampled(RUNNING, str, 3):
        run = timeline(name)
        for entry in run.entries:
            op = getattr(entry.origin, "op", None)
            if entry.backward or entry.kernel is None or not isinstance(op, ForeignOp):
                continue
            if not all(isinstance(n, int) and (n == NOBODY or n in run.store) for n in entry.operands):
                continue
            if entry.type == "copy":
                continue  # what it was copied from may have been written since, as averages of a teacher are
            operands = [None if n == NOBODY else np.asarray(run.store.get(n)) for n in entry.operands]
            try:
                results = entry.kernel(*operands)
            except UnsupportedError:
                continue
            computed.add(entry.type)
            for (_, number), result in zip(entry.outs, results, strict=False):
                if result is not None and number != NOBODY and number in run.store and np.size(result):
                    np.testing.assert_allclose(
                        np.asarray(result, np.complex128),
                        np.asarray(run.store.get(number), np.complex128),
                        rtol=1e-4,
                        atol=1e-5,
                        err_msg=f"{name}: {entry.name}",
                    )
    assert {"native_batch_norm", "mse_loss"} <= computed, sorted(computed)


def test_in_double_precision_it_stays_in_double_precision() -> None:
    computed: set[str] = set()
    run = timeline("r_convolution")
    for entry in run.entries:
        if entry.backward or entry.kernel is None or not isinstance(getattr(entry.origin, "op", None), ForeignOp):
            continue
        # Numbers that single precision does not have.
        operands = [
            None if n == NOBODY else np.asarray(run.store.get(n), np.float64) * 1.0000000123 for n in entry.operands
        ]
        result = entry.kernel(*operands)[0]
        assert result.dtype == np.float64
        assert not np.array_equal(result, result.astype(np.float32)), f"{entry.type} was rounded on the way"
        computed.add(entry.type)
    assert "convolution" in computed


@pytest.mark.parametrize("name", ["bernoulli", "native_dropout", "rand", "no_such_operator"])
def test_what_draws_or_is_not_known_is_not_computed_again(name: str) -> None:
    assert again(name, "", [("self", None)], (), [((2,), "float32")], 1) is None
