"""Kernels: shapes and types as inferred, inputs left alone, the same on any memory layout and in a plan."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtool.engine.core import state
from gradtool.engine.core.spec import UNKNOWN, TensorSpec
from gradtool.engine.ops.opdef import specs_of
from tests.ops.calls import NUMPY, call, separated
from tests.ops.cases import COUNTED, SHAPED_BY_VALUES, Case, arrays, each_case, is_float, nested


def same(a: Any, b: Any) -> bool:
    """Equal arrays of one dtype and shape, in the same nesting."""
    left, right = list(arrays(a)), list(arrays(b))
    return len(left) == len(right) and all(
        x.dtype == y.dtype and x.shape == y.shape and np.array_equal(x, y, equal_nan=x.dtype.kind == "f")
        for x, y in zip(left, right, strict=True)
    )


def spec_of(result: Any) -> Any:
    if result is None:
        return None
    if isinstance(result, (list, tuple)):
        return tuple(map(spec_of, result))
    return TensorSpec(np.shape(result), np.asarray(result).dtype)


@each_case()
def test_results_are_as_inferred(case: Case) -> None:
    results = call(case.op, case.operands, case.attrs)
    specs = case.op.infer_specs(specs_of(case.operands), case.attrs)
    assert len(results) == len(specs) == len(case.op.outputs)
    for slot, result, spec in zip(case.op.outputs, results, specs, strict=True):
        if result is not None or not slot.optional:
            actual = spec_of(result)
            if case.op.type in SHAPED_BY_VALUES and reads_values(case):
                actual = blanked(actual, spec)
            assert actual == spec, slot.name


def reads_values(case: Case) -> bool:
    """Whether the sample has an operand of the kind that dimensions are read from."""
    return case.op.type in COUNTED or any(
        slot.optional or not is_float(a)
        for slot, v in zip(case.op.inputs, case.operands, strict=True)
        for a in arrays([v])
    )


def blanked(actual: Any, like: Any) -> Any:
    """*found* with -1 where *like* has it."""
    if isinstance(actual, tuple):
        return tuple(map(blanked, actual, like))
    if actual.ndim != like.ndim:
        return actual
    return actual.replace_shape(UNKNOWN if n == UNKNOWN else m for m, n in zip(actual.shape, like.shape, strict=True))


@each_case()
def test_inputs_are_left_alone(case: Case) -> None:
    # The operands are read-only, so a kernel that writes to one fails; a copy shows changes made some other way.
    before = [nested(np.array, v) for v in case.operands]
    call(case.op, case.operands, case.attrs)
    assert same(before, case.operands)


def scattered(a: np.ndarray) -> np.ndarray:
    """The same values, in reversed memory order and with gaps."""
    wide = np.empty(tuple(2 * d for d in a.shape), a.dtype)
    view = wide[(..., *(slice(None, None, -2) for _ in a.shape))]
    view[...] = a
    return view


@each_case("float64")
def test_any_memory_layout(case: Case) -> None:
    expected = call(case.op, case.operands, case.attrs)
    results = call(case.op, [nested(scattered, v) for v in case.operands], case.attrs)
    for a, b in zip(arrays(results), arrays(expected), strict=True):
        assert a.dtype == b.dtype
        np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-14)


@each_case()
def test_the_bound_kernel_computes_what_the_definition_says(case: Case) -> None:
    state.random.reset(0)
    with np.errstate(all="ignore"):
        expected = separated(case.op, case.op.run(NUMPY, case.operands, case.attrs))
    rtol = 1e-5 if case.dtype == "float32" else 1e-12
    for a, b in zip(arrays(call(case.op, case.operands, case.attrs)), arrays(expected), strict=True):
        assert a.dtype == b.dtype
        np.testing.assert_allclose(a, b, rtol=rtol, atol=rtol / 10)
