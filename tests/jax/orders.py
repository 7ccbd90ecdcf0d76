"""An operator's results, its gradients and theirs, as one function that any backend computes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from gradtool.engine.core import state
from gradtool.engine.kernels.backend import Backend
from gradtool.engine.ops.opdef import OpDef, specs_of
from tests.ops.calls import NUMPY, all_floats, completed, gradient_operands, random_like, seeds, separated, wanted_for
from tests.ops.cases import Case, arrays, is_float, nested


class Orders(NamedTuple):
    """What was computed: a list per order, an entry for each slot; None where an operator has no such order."""

    results: list[Any]
    gradients: list[Any] | None
    second: list[Any] | None


class Inputs(NamedTuple):
    """What it is computed from.

    Attributes:
        operands: those of the operator.
        douts: gradients of its results.
        weights: gradients of its gradients.
    """

    operands: list[Any]
    douts: list[Any]
    weights: list[Any]


class Computation:
    """The orders of one case of an operator.

    Attributes:
        inputs: of the case, with seeded gradients.
        expected: what NumPy gives.
    """

    def __init__(self, case: Case) -> None:
        self.op, self.attrs = case.op, case.attrs
        self.masks = self.second_masks = None
        rng = np.random.default_rng(5)
        operands = list(case.operands)
        with np.errstate(all="ignore"):
            results = _run(NUMPY, case.op, operands, case.attrs)
            douts, weights = [None] * len(results), []
            if _differentiable(case):
                douts = completed(case.op, results, seeds(case.op, results, rng, late=True))
                self.masks = wanted_for(case.op, operands)
                read = gradient_operands(case.op, operands, results, douts)
                gradients = _run(NUMPY, _gradient(case.op), read, case.attrs, self.masks)
                weights = [nested(lambda a: random_like(a, lambda s: rng.uniform(0.5, 1.5, s)), g) for g in gradients]
                if any(all_floats(g) for g in gradients) and _gradient(case.op).rule is not None:
                    self.second_masks = wanted_for(_gradient(case.op), read)
            self.inputs = Inputs(operands, douts, weights)
            self.expected = self.on(NUMPY)(self.inputs)

    def on(self, backend: Backend) -> Callable[[Inputs], Orders]:
        """The function that computes the orders on *backend*."""

        def compute(inputs: Inputs) -> Orders:
            op, attrs = self.op, self.attrs
            operands, douts, weights = map(list, inputs)
            results = _run(backend, op, operands, attrs)
            if self.masks is None:
                return Orders(results, None, None)
            read = gradient_operands(op, operands, results, douts)
            gradients = _run(backend, _gradient(op), read, attrs, self.masks)
            if self.second_masks is None or not any(any(m) for m in self.second_masks):
                return Orders(results, gradients, None)
            again = gradient_operands(_gradient(op), read, gradients, weights)
            second = _run(backend, _gradient(_gradient(op)), again, attrs, self.second_masks)
            return Orders(results, gradients, second)

        return compute


def _gradient(op: OpDef) -> OpDef:
    assert op.grad_op is not None
    return op.grad_op


def _differentiable(case: Case) -> bool:
    rule = case.op.rule
    return rule is not None and any(is_float(a) for a in arrays([case.operands[i] for i in rule.wrt]))


def _run(backend: Backend, op: OpDef, operands: list[Any], attrs: dict[str, Any], wanted: Any = None) -> list[Any]:
    state.random.reset(0)
    return separated(op, backend.bind(op, attrs, wanted, specs_of(operands))(*operands))
