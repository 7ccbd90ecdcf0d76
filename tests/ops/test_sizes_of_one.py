"""Dimensions of size one, where a sum sums nothing and a copy copies nothing: who owns the arrays that come out.

A kernel may return an operand or a view of it, and a gradient may be the gradient that arrived: the executor and the
tape write into no array that they have not made (``Pass._joined``, ``store``, ``Executor._finish``). So two things
must hold. What a kernel returns besides is its own: no two results, and no two gradients, share memory unless it is an
operand's. And the tensors of dynamic mode, which users write in place, share memory only where ``Trait.VIEW`` says so.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pytest

from gradtool.engine.core import state
from gradtool.engine.core.errors import ShapeError
from gradtool.engine.core.spec import TensorSpec
from gradtool.engine.eager.backward import backward
from gradtool.engine.eager.record import apply
from gradtool.engine.eager.tensor import Tensor
from gradtool.engine.ops import registry
from gradtool.engine.ops.opdef import OpDef, Operand, Trait, specs_of
from tests.ops.calls import NUMPY, call, pull, seeds, separated, wanted_for
from tests.ops.cases import (
    BY_HAND,
    COUNTED,
    SHAPED_BY_VALUES,
    Case,
    arrays,
    cases_of,
    each_op,
    is_float,
    nested,
    some_cases_of,
)
from tests.ops.probes import defined_gradients
from tests.ops.shrunk import shrunk
from tests.ops.test_op_forward import same, spec_of
from tests.ops.test_op_gradients import subsets

each_op_with_samples = each_op(lambda op: op.infers and op.type not in BY_HAND)


def whole_and_shrunk(op: OpDef, test: str, *dtypes: str) -> Iterator[Case]:
    for case in some_cases_of(op, test, *dtypes):
        yield case
        yield from shrunk(case)


def shares(a: np.ndarray, b: np.ndarray) -> bool:
    return bool(a.size and b.size and np.may_share_memory(a, b))


def in_common(results: Sequence[np.ndarray], operands: Sequence[np.ndarray], others: Sequence[np.ndarray]) -> bool:
    """Whether any of *found* shares memory with one of *others*, and not because it is that of an operand."""
    return any(shares(a, b) for a in results if not any(shares(a, o) for o in operands) for b in others if a is not b)


NORMALIZATIONS = frozenset(("batch_norm", "group_norm", "instance_norm", "layer_norm"))
"""Operators that add up rows in another order than the definition says, which shows in the last places."""

ROUNDED = NORMALIZATIONS | {"depthwise_conv2d", "depthwise_conv2d_transpose"}
"""Operators of which gradients are."""


def near(results: Any, expected: Any) -> bool:
    """The same but for some units in the last place of the largest element."""
    left, right = list(arrays(results)), list(arrays(expected))
    return len(left) == len(right) and all(
        a.dtype == b.dtype
        and a.shape == b.shape
        and np.allclose(a, b, rtol=0, atol=64 * np.finfo(b.dtype).eps * np.abs(b).max(initial=1))
        for a, b in zip(left, right, strict=True)
    )


@each_op_with_samples
def test_results(op: OpDef) -> None:
    for case in whole_and_shrunk(op, "results of ones"):
        results = call(op, case.operands, case.attrs)
        state.random.reset(0)
        alike = near if op.type in NORMALIZATIONS else same
        with np.errstate(all="ignore"):
            assert alike(results, separated(op, op.run(NUMPY, case.operands, case.attrs))), (
                "not what the definition says"
            )
        if op.type not in SHAPED_BY_VALUES:
            for slot, result, spec in zip(
                op.outputs, results, op.infer_specs(specs_of(case.operands), case.attrs), strict=True
            ):
                assert spec_of(result) == spec or (result is None and slot.optional)
        fresh, operands = list(arrays(results)), list(arrays(case.operands))
        assert not in_common(fresh, operands, fresh), "two results share memory"
        again = list(arrays(call(op, case.operands, case.attrs)))
        assert not in_common(again, operands, fresh), "two calls share memory"


def pulled(op: OpDef, dtypes: Sequence[str]) -> Iterator[tuple[Case, list[Any], list[Any]]]:
    """Each case whose inputs can have gradients, with its results and the gradients that arrive, all read-only."""
    assert op.rule is not None
    for case in whole_and_shrunk(op, "gradients of ones", *dtypes):
        if not any(is_float(a) for a in arrays(case.operands[i] for i in op.rule.wrt)):
            continue
        results = call(op, case.operands, case.attrs)
        douts = seeds(op, results, np.random.default_rng(3))
        for a in (*arrays(results), *arrays(douts)):
            a.flags.writeable = False
        if any(d is not None for d in douts):
            yield case, results, douts


each_op_with_a_rule = each_op(lambda op: op.infers and op.rule is not None and op.type not in BY_HAND)


@each_op_with_a_rule
def test_gradients(op: OpDef) -> None:
    assert op.rule is not None
    alike = near if op.type in ROUNDED else same
    for case, results, douts in pulled(op, ("float32", "float64")):
        whole = pull(op, case.operands, results, douts, case.attrs)
        assert alike(whole, defined_gradients(op, case.operands, results, douts, case.attrs)), "not what the rule says"
        fresh, read = list(arrays(whole)), list(arrays([*case.operands, *results, *douts]))
        assert not in_common(fresh, read, fresh), "two gradients share memory"
        again = list(arrays(pull(op, case.operands, results, douts, case.attrs)))
        assert not in_common(again, read, fresh), "two calls share memory"
        for mask in subsets(wanted_for(op, case.operands)):
            some = pull(op, case.operands, results, douts, case.attrs, mask)
            for place, entries in zip(op.rule.wrt, mask, strict=True):
                few, every = (v[place] if isinstance(v[place], (list, tuple)) else [v[place]] for v in (some, whole))
                for wanted, a, b in zip(entries, few, every, strict=False):
                    assert same([a], [b]) if wanted else a is None


def tensors_of(operands: Sequence[Operand]) -> list[Any]:
    """The operands as tensors of dynamic mode, in storage of their own, wanting gradients."""

    def tensor(a: np.ndarray) -> Tensor:
        return Tensor(np.array(a), stop_gradient=not is_float(a))

    return [nested(tensor, v) for v in operands]


def flat(values: Any) -> list[Tensor]:
    return [e for v in values for e in (v if isinstance(v, (list, tuple)) else [v]) if e is not None]


@each_op_with_samples
def test_tensors_share_storage_where_it_is_said_and_know_it(op: OpDef) -> None:
    if op.trait & (Trait.INTERNAL | Trait.EFFECT) or op.type in COUNTED:
        return  # what users never hold, and what says something besides
    for case in whole_and_shrunk(op, "storage of ones", "float32"):
        operands = tensors_of(case.operands)
        result = apply(op, operands, case.attrs)
        results, tensors = flat(result if isinstance(result, tuple) else [result]), flat(operands)
        for n, out in enumerate(results):
            sources = [t for t in tensors if shares(out.array, t.array)]
            assert not sources or Trait.VIEW in op.trait, "shares its operand's storage"
            assert all(out.version is t.version for t in sources), "its edits are not seen by its source"
            if not sources:
                assert not any(shares(out.array, other.array) for other in results[:n]), "two results share storage"
        targets = [t for t in results if t.node is not None and t.array.size]
        if not targets:
            continue
        backward(targets, [None] * len(targets), retain_graph=True)
        grads = [t.grad.array for t in tensors if t.grad is not None]
        held = [t.array for t in (*tensors, *results)]
        assert not in_common(grads, [], [*grads, *held]), "a gradient shares its storage"


@pytest.mark.parametrize("op_type", ["sum", "adam", "momentum"])
def test_operands_of_one_shape_are_not_broadcast(op_type: str) -> None:
    """One row is no operand for a matrix, though NumPy would take it."""
    op = registry.get_by_type(op_type)
    wide, row = TensorSpec((2, 3), "float32"), TensorSpec((1, 3), "float32")
    for case in cases_of(op, "float32"):
        specs = specs_of(case.operands)
        if op.inputs[0].many:
            with pytest.raises(ShapeError, match=r"X\[1\] \[2, 3\]"):
                op.infer_specs([(row, wide)], case.attrs)
            continue
        for i, spec in enumerate(specs):
            if spec == wide:
                with pytest.raises(ShapeError, match="Param has the shape"):
                    op.infer_specs([*specs[:i], row, *specs[i + 1 :]], case.attrs)
