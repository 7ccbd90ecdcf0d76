"""Operators at ties and kinks: their samples, with all numbers made equal, or whole, or zero."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from gradtool.engine.core.errors import GradtoolError
from gradtool.engine.ops.opdef import OpDef
from tests.kinks.judging import Vector
from tests.ops.calls import call, dot, pull, second_pull, seeds
from tests.ops.cases import Case, is_float, labelled, nested

MADE: dict[str, Callable[[Any], Any]] = {
    "whole": np.round,
    "halves": lambda a: np.round(2 * a) / 2,
    "ones": np.ones_like,
    "zeros": np.zeros_like,
}
"""What becomes of the numbers of a sample."""


class AtKink:
    """An operator on operands of a sample, as a function of those that have gradients."""

    def __init__(self, case: Case, make: Callable[[Any], Any]) -> None:
        self.op, self.attrs = case.op, case.attrs
        rule = case.op.rule
        assert rule is not None
        self.operands = [nested(lambda a: make(a) if is_float(a) else a, v) for v in case.operands]
        self.wrt = [i for i in rule.wrt if self.operands[i] is not None]
        self.parts = [a for i in self.wrt for a in _listed(self.operands[i]) if is_float(a)]
        self.point = _vector(self.parts)
        self.weights = seeds(self.op, call(self.op, self.operands, self.attrs), np.random.default_rng(1))

    def placed(self, at: Vector) -> list[Any]:
        """The operands with other numbers."""
        numbers = np.split(at, np.cumsum([a.size for a in self.parts])[:-1])
        arrays = iter([n.reshape(a.shape) for n, a in zip(numbers, self.parts, strict=True)])
        operands = list(self.operands)
        for i in self.wrt:
            operands[i] = nested(lambda a: next(arrays) if is_float(a) else a, operands[i])
        return operands

    def value(self, at: Vector) -> float:
        return dot(call(self.op, self.placed(at), self.attrs), self.weights)

    def gradient(self, at: Vector) -> Vector:
        operands = self.placed(at)
        return self._flat(pull(self.op, operands, call(self.op, operands, self.attrs), self.weights, self.attrs))

    def second(self, at: Vector, weights: Vector) -> Vector:
        operands = self.placed(at)
        results = call(self.op, operands, self.attrs)
        gradients = pull(self.op, operands, results, self.weights, self.attrs)
        numbers = iter(np.split(weights, np.cumsum([a.size for a in self.parts])[:-1]))
        weighed: list[Any] = [None] * len(operands)
        for i in self.wrt:
            drawn = [next(numbers).reshape(a.shape) if is_float(a) else None for a in _listed(operands[i])]
            there = [w if g is not None else None for w, g in zip(drawn, _padded(gradients[i], drawn), strict=True)]
            weighed[i] = there if isinstance(operands[i], list) else there[0]
        by_input, _ = second_pull(self.op, operands, results, self.weights, weighed, self.attrs)
        return self._flat(by_input)

    def _flat(self, gradients: list[Any]) -> Vector:
        """Gradients as one vector, zeros where there are none."""
        parts = []
        for i in self.wrt:
            entries = _listed(self.operands[i])
            for a, g in zip(entries, _padded(gradients[i], entries), strict=True):
                if is_float(a):
                    parts.append(np.zeros(a.shape) if g is None else np.asarray(g))
        return _vector(parts)


def cases(op: OpDef) -> Iterator[tuple[str, Case, str]]:
    """The samples of an operator in float64, each with every way to make ties."""
    for label, case in labelled(op, ("float64",)):
        complexes = any(np.asarray(a).dtype.kind == "c" for v in case.operands for a in _listed(v) if a is not None)
        if not complexes:
            yield from ((f"{label} {name}", case, name) for name in MADE)


def subject(case: Case, made: str) -> AtKink | None:
    """The operator on the operands of a sample; None where they are refused."""
    try:
        return AtKink(case, MADE[made])
    except (GradtoolError, np.linalg.LinAlgError):
        return None


def _listed(operand: Any) -> list[Any]:
    return list(operand) if isinstance(operand, (list, tuple)) else [operand]


def _padded(gradient: Any, entries: list[Any]) -> list[Any]:
    return [None] * len(entries) if gradient is None else _listed(gradient)


def _vector(parts: list[Any]) -> Vector:
    return np.concatenate([np.asarray(a, float).reshape(-1) for a in parts]) if parts else np.zeros(0)
