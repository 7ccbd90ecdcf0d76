"""The cases of the generated tests: every operator, each of its samples, in each floating-point type."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from functools import cache, partial, wraps
from typing import Any

import numpy as np
import pytest

from gradtool.engine.core.spec import dtype as dtype_of
from gradtool.engine.ops import registry
from gradtool.engine.ops.opdef import OpDef, Operand, Trait
from tests.isolation import clean
from tests.sampling import sampled

DTYPES = ("float32", "float64")

PARTS = {"float32": "complex64", "float64": "complex128"}
"""The complex type with parts of a real one."""


class Case:
    """One call of an operator.

    Attributes:
        op: the operator.
        operands: arrays, lists of them, or None, one per input slot; not to be changed.
        attrs: every attribute.
        dtype: the type of the floating-point operands.
        smooth: whether differences around the sample approximate the gradient.
    """

    def __init__(self, op: OpDef, operands: list[Operand], attrs: dict[str, Any], dtype: str, smooth: bool) -> None:
        self.op = op
        self.operands = operands
        self.attrs = attrs
        self.dtype = dtype
        self.smooth = smooth


def nested(function: Callable[[Any], Any], operand: Operand) -> Operand:
    """*function* of an array, or of each array in a list; None stays None."""
    if isinstance(operand, (list, tuple)):
        return [nested(function, v) for v in operand]
    return None if operand is None else function(operand)


def arrays(operands: Any) -> Iterator[np.ndarray]:
    """The arrays in operands or results, in order."""
    for v in operands:
        if isinstance(v, (list, tuple)):
            yield from arrays(v)
        elif v is not None:
            yield np.asarray(v)


def is_float(array: Any) -> bool:
    """Whether it holds real or complex numbers, which have gradients."""
    return np.asarray(array).dtype.kind in "fc"


def labelled(op: OpDef, dtypes: tuple[str, ...]) -> Iterator[tuple[str, Case]]:
    """The cases of one operator, each with its name."""
    for sample in op.make_samples():
        floats = any(is_float(a) for a in arrays(sample.operands))
        for dtype in dtypes if floats else [d for d in dtypes if d in DTYPES][-1:]:
            if dtype not in DTYPES and not op.trait & (Trait.MOVES | Trait.HOLOMORPHIC):
                continue

            def as_dtype(a: Any, to: str) -> np.ndarray:
                array = np.array(a)
                if is_float(a):
                    array = array.astype(PARTS.get(to, to) if array.dtype.kind == "c" else to)
                if to not in DTYPES and array.dtype.kind == "c" and np.asarray(a).dtype.kind != "c":
                    array += 0.25j * np.cos(np.arange(array.size)).reshape(array.shape).astype(array.real.dtype)
                array.flags.writeable = False
                return array

            # What stands in an optional slot is a factor or a position: real beside complex operands.
            beside = {whole: part for part, whole in PARTS.items()}
            kinds = [beside.get(dtype, dtype) if s.optional else dtype for s in op.inputs]
            operands = [nested(partial(as_dtype, to=to), v) for v, to in zip(sample.operands, kinds, strict=True)]
            attrs = dict(sample.attrs)
            if "in_dtype" in attrs and attrs["in_dtype"] != -1 and operands[0] is not None:
                attrs["in_dtype"] = dtype_of(operands[0].dtype).code  # it states the operand's type
            label = f"{op.type}-{sample.label or 'plain'}-{dtype}"
            yield label, Case(op, operands, attrs, dtype, sample.smooth)


def cases_of(op: OpDef, *dtypes: str) -> Iterator[Case]:
    """The cases of one operator."""
    for _, case in labelled(op, dtypes or DTYPES):
        yield case


ONE_IN = 27
"""The part of the cases that the test command takes, of each operator: one of so many."""


def some_cases_of(op: OpDef, test: str, *dtypes: str) -> Iterator[Case]:
    """Yield the cases of one operator that a test takes; all of them with ``--whole``."""
    for _, case in sampled(labelled(op, dtypes or DTYPES), lambda entry: f"{test} {entry[0]}", ONE_IN):
        yield case


def _has_gradient(case: Case) -> bool:
    """Whether an input that the rule gives a gradient for holds real numbers."""
    assert case.op.rule is not None
    return any(is_float(a) for a in arrays([case.operands[i] for i in case.op.rule.wrt]))


def _choose(op: OpDef, dtypes: tuple[str, ...], gradient: bool, smooth: bool) -> Iterator[tuple[str, Case]]:
    for label, case in labelled(op, dtypes):
        if (case.smooth or not smooth) and (not gradient or _has_gradient(case)):
            yield label, case


@cache
def _has_cases(op: OpDef, dtypes: tuple[str, ...], gradient: bool, smooth: bool) -> bool:
    return any(True for _ in _choose(op, dtypes, gradient, smooth))


def each_case(
    *dtypes: str, gradient: bool = False, smooth: bool = False, where: Callable[[OpDef], bool] = lambda op: True
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Parametrise a test of ``case`` by definition file: each case of its operators is tried, from a clean state.

    One test a file, not one an operator or a case: what runs a test costs more than most cases do. All cases are tried;
    those that fail are reported together, each with its name.

    The test command takes one case in twenty-seven of each operator, and other cases in other tests;
    ``--whole`` takes all.

    Args:
        dtypes: the floating-point types; both when none is named. With a complex one, the real numbers of samples
            get imaginary parts, where operators take them.
        gradient: only operators with a gradient rule, and samples in which an input can have a gradient.
        smooth: only samples around which the operator is differentiable.
        where: a condition on the operator.
    """

    def is_taken(op: OpDef) -> bool:
        if not op.infers or op.type in BY_HAND or (gradient and op.rule is None):
            return False
        return where(op) and _has_cases(op, dtypes or DTYPES, gradient, smooth)

    def decorated(test: Callable[..., None]) -> Callable[..., None]:
        def taken(op: OpDef) -> list[tuple[str, Case]]:
            cases = _choose(op, dtypes or DTYPES, gradient, smooth)
            return sampled(cases, lambda entry: f"{test.__qualname__} {entry[0]}", ONE_IN)

        return _by_file(test, "case", taken, is_taken)

    return decorated


def each_op(where: Callable[[OpDef], bool] = lambda op: True) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Parametrise a test of ``op`` by definition file; all operators of it are tried, as by :func:`each_case`."""
    return lambda test: _by_file(test, "op", lambda op: [(op.type, op)], where)


def _by_file(
    test: Callable[..., None],
    parameter: str,
    taken: Callable[[OpDef], list[tuple[str, Any]]],
    where: Callable[[OpDef], bool],
) -> Callable[..., None]:
    """Return *test* by definition file: *parameter* is each thing that is *taken* of one of its operators."""
    files: dict[str, list[OpDef]] = {}
    for op in filter(where, registry.all_ops()):
        files.setdefault(op.kernel.__module__.rpartition(".")[2], []).append(op)

    @wraps(test)
    def of_file(ops: list[OpDef], **others: Any) -> None:
        entries = [entry for op in ops for entry in taken(op)]
        failures = [f for label, v in entries if (f := _failure(label, test, {parameter: v}, others))]
        if failures:
            names = ", ".join(failure.__notes__[-1] for failure in failures)
            raise ExceptionGroup(f"{len(failures)} of {len(entries)} cases: {names}", failures)

    signature = inspect.signature(test)
    takes = [p.replace(name="ops") if p.name == parameter else p for p in signature.parameters.values()]
    of_file.__signature__ = signature.replace(parameters=takes)  # type: ignore[attr-defined]
    return pytest.mark.parametrize("ops", [pytest.param(ops, id=file) for file, ops in files.items()])(of_file)


def _failure(label: str, test: Callable[..., None], of: dict[str, Any], others: dict[str, Any]) -> Exception | None:
    """How *test* fails with that case or operator, or None."""
    try:
        with clean():
            test(**of, **others)
    except Exception as failure:
        failure.add_note(label)
        return failure
    return None


SHAPED_BY_VALUES = {
    "bilinear_interp",
    "bilinear_interp_v2",
    "bincount",
    "class_center_sample",
    "concat",
    "distribute_fpn_proposals",
    "empty",
    "expand_v2",
    "fill_constant",
    "gather",
    "gaussian_random",
    "generate_proposals_v2",
    "graph_send_recv",
    "graph_send_ue_recv",
    "linspace",
    "logspace",
    "masked_select",
    "matrix_nms",
    "multiclass_nms3",
    "nearest_interp",
    "nearest_interp_v2",
    "nms",
    "one_hot_v2",
    "pad3d",
    "randint",
    "range",
    "read_file",
    "repeat_interleave",
    "reshape2",
    "segment_pool",
    "slice",
    "split",
    "strided_slice",
    "tile",
    "top_k_v2",
    "truncated_gaussian_random",
    "uniform_random",
    "unique",
    "unique_consecutive",
    "unsqueeze2",
    "viterbi_decode",
    "where_index",
}
"""Operators some of whose samples give dimensions as tensors: what comes out is known only when they run."""

COUNTED = {
    "class_center_sample",
    "distribute_fpn_proposals",
    "generate_proposals_v2",
    "matrix_nms",
    "multiclass_nms3",
    "nms",
    "range",
    "read_file",
    "segment_pool",
    "unique",
    "unique_consecutive",
    "viterbi_decode",
    "where_index",
}
"""Those of them of which an operand that is no list of sizes says how many elements come out."""

ARRAYS = dict.fromkeys(
    [
        "array_parted",
        "array_popped",
        "array_without",
        "lod_array_length",
        "read_from_array",
        "tensor_array_to_tensor",
        "write_to_array",
    ],
    "it takes or makes arrays of tensors (tests/control/test_arrays_of_tensors.py)",
)
BY_HAND = {
    **ARRAYS,
    "assert": "it has no results",
    "select_input": "one of its two inputs has no gradient",
    "select_output": "one of its two results is not computed",
}
"""Operators that generated tests cannot call, beside those whose results do not follow from their inputs."""

NEEDS_KNOWN = {
    "empty": "the length of the shape tensor is the number of dimensions",
    "expand_v2": "the length of the shape tensor is the number of dimensions",
    "fill_constant": "the length of the shape tensor is the number of dimensions",
    "gaussian_random": "the length of the shape tensor is the number of dimensions",
    "gather_nd": "the last dimension of Index says how many dimensions it indexes",
    "gru_unit": "the weight is cut by the size of the state",
    "partial_concat": "columns are counted from the end, or up to it",
    "partial_sum": "columns are counted from the end, or up to it",
    "randint": "the length of the shape tensor is the number of dimensions",
    "reshape2": "the length of the shape tensor is the number of dimensions",
    "rms_norm": "a weight takes the shape of the dimensions that it belongs to",
    "squeeze2": "without axes, an unknown dimension is taken to be other than 1; with axes, to be 1",
    "tile": "the length of the tensor is the number of dimensions",
    "unbind": "each part is a variable of its own",
    "uniform_random": "the length of the shape tensor is the number of dimensions",
    "unsqueeze2": "the length of the axes tensor is the number of new dimensions",
    "unstack": "each part is a variable of its own",
}
"""Operators that cannot do with unknown dimensions in all samples -> why."""
