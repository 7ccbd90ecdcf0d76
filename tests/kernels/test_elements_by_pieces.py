"""Functions of single elements on NumPy: by pieces to the bit what they are at once."""

from __future__ import annotations

import numpy as np
import pytest

from gradtool.engine.kernels.numpy import blocks
from gradtool.engine.kernels.numpy.activations import GRADIENTS, OPERATORS
from gradtool.engine.kernels.numpy.gradients import ELEMENTWISE
from gradtool.engine.ops.registry import get_by_type
from tests.ops.calls import call, pull

RNG = np.random.default_rng(0)
BOUNDS = {"min": -0.5, "max": 0.7}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(
    "op_type", sorted({*OPERATORS, *GRADIENTS, *(name for name in ELEMENTWISE if not name.endswith("_grad"))})
)
def test_pieces(op_type: str, dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    op = get_by_type(op_type)
    attrs = {**op.defaults, **(BOUNDS if op_type == "clip" else {}), **({"factor": 3.0} if op_type == "pow" else {})}
    x = (RNG.standard_normal((7, 11)) * 3).astype(dtype)
    x[0, :5] = [np.nan, np.inf, -np.inf, -0.0, 0.0]
    given = [x, *[None] * (len(op.inputs) - 1)]
    forms = []
    with np.errstate(all="ignore"):
        for piece in (blocks.PIECE, 16):
            monkeypatch.setattr(blocks, "PIECE", piece)
            results = call(op, given, attrs)
            arrived = np.random.default_rng(1).standard_normal(x.shape).astype(dtype)
            forms.append([*results, *(g for g in pull(op, given, results, [arrived], attrs) if g is not None)])
    for whole, by_piece in zip(*forms, strict=True):
        assert whole.dtype == by_piece.dtype == dtype
        np.testing.assert_array_equal(whole, by_piece)
        np.testing.assert_array_equal(np.signbit(whole), np.signbit(by_piece))


def test_of_what_lies_otherwise_it_is_the_same() -> None:
    kernel = blocks.compute_in_pieces(np.add)
    x = RNG.standard_normal((400, 400))
    np.testing.assert_array_equal(kernel(x.T, x), x.T + x)
    np.testing.assert_array_equal(kernel(x, x[:1]), x + x[:1])
