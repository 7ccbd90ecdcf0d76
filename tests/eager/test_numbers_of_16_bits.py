"""Every operator on float16 and bfloat16: what float32 gives for the same numbers, rounded once."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradtool.engine.core import spec, state
from gradtool.engine.core.spec import DType
from gradtool.engine.eager import backward as sweep
from gradtool.engine.eager.record import apply
from gradtool.engine.eager.tensor import Tensor
from gradtool.engine.ops.opdef import OpDef, Trait, specs_of
from tests.ops.calls import separated
from tests.ops.cases import Case, each_case, nested

each_half = pytest.mark.parametrize("half", [spec.float16, spec.bfloat16], ids=lambda d: d.name)


OF_COMPLEX = {"angle", "as_complex", "as_real", "complex", "conj", "imag", "real"}
OF_COMPLEX |= {"eig", "eigvals"}
OF_COMPLEX |= {"fft_c2c", "fft_c2r", "fft_c2r_adjoint", "fft_r2c", "fft_r2c_adjoint", "stft"}
"""Operators whose samples hold complex numbers, or that make some: there are none with parts of 16 bits."""


def takes_half(op: OpDef) -> bool:
    return Trait.RANDOM not in op.trait and op.type not in OF_COMPLEX


def halved(case: Case, half: DType) -> list[Any]:
    """The operands with the real numbers among them in 16 bits."""
    return [nested(lambda a: a.astype(half.numpy) if a.dtype == np.float32 else a, v) for v in case.operands]


def widened(operands: list[Any]) -> list[Any]:
    return [nested(lambda a: a.astype("float32") if spec.dtype(a.dtype).is_half else a, v) for v in operands]


def run(case: Case, operands: list[Any]) -> tuple[list[Any], list[Tensor]]:
    """The results of *case* on *operands* as tensors, and the leaves that they can be differentiated by."""
    state.random.reset(0)
    leaves: list[Tensor] = []

    def leaf(array: Any, wrt: bool) -> Tensor:
        tensor = Tensor(np.array(array), stop_gradient=not (wrt and spec.dtype(array.dtype).is_differentiable))
        if not tensor.stop_gradient:
            leaves.append(tensor)
        return tensor

    wrt = case.op.rule.wrt if case.op.rule is not None else ()
    tensors = [nested(lambda a, i=i: leaf(a, i in wrt), v) for i, v in enumerate(operands)]
    return separated(case.op, apply(case.op, tensors, case.attrs)), leaves


def rounded_once(rounded: np.ndarray, exact: np.ndarray) -> None:
    """That *found* is *exact*, which was computed in float32, rounded to its type."""
    with np.errstate(over="ignore", invalid="ignore"):
        expected = exact.astype(rounded.dtype)
    np.testing.assert_array_equal(rounded.astype("float32"), expected.astype("float32"))


@pytest.mark.sampled(2)
@each_half
@each_case("float32", where=takes_half)
def test_results(case: Case, half: DType) -> None:
    operands = halved(case, half)
    results, _ = run(case, operands)
    expected, _ = run(case, widened(operands))
    inferred = case.op.infer_specs(specs_of(operands), case.attrs)
    for a, b, s in zip(results, expected, inferred, strict=True):
        for t, u in zip(flat(a), flat(b), strict=True):
            x, y = t.array, u.array
            assert x.shape == y.shape
            if y.dtype.kind == "f":
                assert x.dtype == (s[0] if isinstance(s, tuple) else s).dtype.numpy
                rounded_once(x, y)
            else:
                np.testing.assert_array_equal(x, y)


@pytest.mark.sampled(2)
@each_half
@each_case("float32", gradient=True, where=takes_half)
def test_gradients(case: Case, half: DType) -> None:
    """Those of float32, in the types of the inputs; also where they are recorded for another derivative."""
    operands = halved(case, half)
    results, leaves = run(case, operands)
    expected, wide_leaves = run(case, widened(operands))
    assert case.op.rule is not None
    places = [r.place for r in case.op.rule.reads if r.kind == "dout" and not r.late]
    roots, wide_roots = ([t for j in places for t in flat(r[j]) if not t.stop_gradient] for r in (results, expected))
    rng = np.random.default_rng(1)
    seeds = [Tensor(rng.integers(1, 5, t.array.shape).astype(t.array.dtype)) for t in roots]
    wide_seeds = [Tensor(s.array.astype("float32")) for s in seeds]
    wanted = sweep.grad(wide_roots, wide_leaves, wide_seeds, retain_graph=True, create_graph=False)
    rounded = any(r.kind == "out" and not r.like for r in case.op.rule.reads)
    for again in (False, True):
        gradients = sweep.grad(roots, leaves, seeds, retain_graph=True, create_graph=again)
        for leaf, g, w in zip(leaves, gradients, wanted, strict=True):
            assert (g is None) == (w is None)
            if g is not None and w is not None:
                assert (g.array.dtype, g.array.shape) == (leaf.array.dtype, leaf.array.shape)
                if not again and not rounded:  # a rule that reads a result reads it rounded
                    rounded_once(g.array, w.array)


def flat(value: Any) -> list[Tensor]:
    return [v for v in (value if isinstance(value, (list, tuple)) else [value]) if v is not None]
