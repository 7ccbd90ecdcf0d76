"""Every operator's samples, with their gradients, through generated functions: NumPy's results to the bit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradtool.engine.kernels.numba.fused import FusedKernel, same
from gradtool.engine.kernels.numba.groups import ArrayFacts, InstructionGroup, group_code
from gradtool.engine.ops import registry
from gradtool.engine.ops.opdef import OpDef, specs_of
from tests.isolation import clean
from tests.kernels.numba.interpreted import always, instruction, interpreted
from tests.ops.calls import NUMPY, completed, gradient_operands, seeds, separated, wanted_for
from tests.ops.cases import BY_HAND, Case, arrays, cases_of, is_float


def call(op: OpDef, operands: list[Any], attrs: Any, masks: Any = None) -> tuple[int, list[Any]]:
    """How many groups compute one call of *op*, none or one, and what it gives on NumPy.

    Raises:
        AssertionError: the group gives something else.
    """
    kernel = NUMPY.bind(op, attrs, masks, specs_of(operands))
    results = separated(op, kernel(*operands))
    flat, rebuilt = _flattened(operands)
    given = list(_leaves(results))

    def run(*values: Any) -> list[Any]:
        return list(_leaves(separated(op, kernel(*rebuilt(values)))))

    code = [instruction(op, run, range(len(flat)), range(len(flat), len(flat) + len(given)))]
    sights = [([ArrayFacts.describe(v) for v in flat], [ArrayFacts.describe(v) for v in given])]
    steps = group_code(code, sights, range(len(flat), len(flat) + len(given)), always)
    groups = [s for s in steps if isinstance(s, InstructionGroup)]
    for group in groups:
        fused = FusedKernel(group, code, lambda error, *_: error)
        fused.compile(interpreted)
        values = [flat[r] for r in group.inputs]
        fused(*values)
        assert not fused.differs, fused.group.stages
        here = dict(zip(group.outputs, fused(*values), strict=True))
        for r, expected in enumerate(given, len(flat)):
            assert same(expected, here[r]), group.stages
            assert type(expected) is type(here[r])
    return len(groups), results


def _leaves(values: Any) -> Any:
    for v in values:
        if isinstance(v, (list, tuple)):
            yield from _leaves(v)
        else:
            yield v


def _flattened(operands: list[Any]) -> tuple[list[Any], Any]:
    """The arrays among operands, and the function that puts others in their places."""
    flat: list[Any] = []

    def places(v: Any) -> Any:
        if v is None:
            return None
        if isinstance(v, (list, tuple)):
            return [places(e) for e in v]
        flat.append(v)
        return len(flat) - 1

    layout = places(operands)

    def rebuilt(values: Any) -> Any:
        def pick(p: Any) -> Any:
            return [pick(e) for e in p] if isinstance(p, list) else None if p is None else values[p]

        return pick(layout)

    return flat, rebuilt


def orders(case: Case) -> tuple[int, int]:
    """How many of the operator and its gradient are computed by generated functions."""
    with np.errstate(all="ignore"):
        forward, results = call(case.op, list(case.operands), case.attrs)
        rule = case.op.rule
        if rule is None or not any(is_float(a) for a in arrays([case.operands[i] for i in rule.wrt])):
            return forward, 0
        rng = np.random.default_rng(3)
        douts = completed(case.op, results, seeds(case.op, results, rng, late=True))
        read = gradient_operands(case.op, list(case.operands), results, douts)
        masks = wanted_for(case.op, list(case.operands))
        assert case.op.grad_op is not None
        return forward, call(case.op.grad_op, read, case.attrs, masks)[0]


OPERATORS = [op for op in registry.all_ops() if op.infers and op.type not in BY_HAND and not op.has_effect]


@pytest.mark.parametrize("letter", sorted({op.type[0] for op in OPERATORS}))
def test_operators(letter: str) -> None:
    failures = []
    for op in OPERATORS:
        if op.type[0] == letter:
            for case in cases_of(op, "float32"):
                try:
                    with clean():
                        counts = orders(case)
                except Exception as error:
                    failures.append(error)
                    error.add_note(f"{op.type} {case.dtype} {case.attrs}")
                    continue
                FUSED.setdefault(op.type, []).append(counts)
    if failures:
        raise ExceptionGroup(letter, failures)


FUSED: dict[str, list[tuple[int, int]]] = {}
