"""Normalizations on NumPy: block by block to the bit what they are at once, and both what the definitions say."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradtool.engine.kernels.numpy import blocks
from gradtool.engine.ops.registry import get_by_type
from tests.ops.calls import NUMPY, call, pull, separated
from tests.ops.probes import defined_gradients

RNG = np.random.default_rng(0)
BATCH = {
    "momentum": 0.9,
    "epsilon": 1e-5,
    "data_layout": "NCHW",
    "is_test": False,
    "use_global_stats": False,
    "trainable_statistics": False,
}
FORMS: dict[str, tuple[tuple[int, ...], int, dict[str, Any]]] = {
    "layer_norm": ((23, 12), 12, {"begin_norm_axis": 1, "epsilon": 1e-5}),
    "layer_norm of one column": ((23, 1), 1, {"begin_norm_axis": 1, "epsilon": 1e-5}),
    "group_norm": ((7, 6, 3, 4), 6, {"groups": 2, "epsilon": 1e-5, "data_layout": "NCHW"}),
    "instance_norm": ((7, 6, 3, 4), 6, {"epsilon": 1e-5}),
    "batch_norm": ((7, 6, 3, 4), 6, BATCH),
}


def operands(form: str, dtype: str, plain: bool) -> list[Any]:
    shape, size, _ = FORMS[form]
    x, *vectors = (RNG.standard_normal(s).astype(dtype) for s in (shape, size, size))
    running = [np.zeros(size, dtype), np.ones(size, dtype), None] if form == "batch_norm" else []
    return [x, *([None, None] if plain else vectors), *running]


@pytest.mark.parametrize("plain", [False, True])
@pytest.mark.parametrize("form", FORMS)
def test_blocks(form: str, plain: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    op, attrs = get_by_type(form.split()[0]), FORMS[form][2]
    for dtype, places in (("float32", 1e-5), ("float64", 1e-13)):
        given = operands(form, dtype, plain)
        for strange in (None, np.nan, np.inf):
            if strange is not None:
                given[0][2, 0] = strange
            forms = []
            for block in (blocks.BLOCK, 50, 1):
                monkeypatch.setattr(blocks, "BLOCK", block)
                results = call(op, given, attrs)
                arrived = [None] * len(results)
                place = [slot.name for slot in op.outputs].index("Y")
                arrived[place] = np.random.default_rng(1).standard_normal(results[place].shape).astype(dtype)
                forms.append([*results, *pull(op, given, results, arrived, attrs)])
            monkeypatch.undo()
            with np.errstate(all="ignore"):
                expected = separated(op, op.run(NUMPY, given, attrs))
            expected += defined_gradients(op, given, expected, arrived, attrs)
            for whole, *others, definition in zip(*forms, expected, strict=True):
                if definition is None:
                    assert whole is None
                    continue
                for other in others:
                    np.testing.assert_array_equal(whole, other)
                np.testing.assert_allclose(whole, definition, rtol=places, atol=places)
                assert whole.dtype == definition.dtype
                assert whole.shape == definition.shape


def test_buffers_of_numpy_are_as_they_were() -> None:
    before, seen = np.getbufsize(), []
    for width in (32, 512):
        with blocks.long_rows(width):
            seen.append(np.getbufsize())
    with pytest.raises(FloatingPointError), np.errstate(divide="raise"), blocks.long_rows(512):
        np.ones(3) / np.zeros(3)
    assert np.getbufsize() == before == seen[0] > seen[1]
