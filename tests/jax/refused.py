"""What operators refuse, compiled by JAX and on NumPy: the same operands, with the same words."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Iterator
from typing import Any

import jax
import numpy as np

from gradtool.engine.ops.opdef import OpDef, specs_of
from gradtool.engine.ops.refusals import RefusalCondition, collect_refusals
from tests.isolation import clean
from tests.jax.compared import JAX
from tests.ops.calls import call
from tests.ops.cases import Case, arrays, cases_of, nested

WRONG = {"i": (99, -99, 0), "f": (np.nan, 9.0)}
"""By kind of type: what stands in every place of an operand to see whether that is refused."""


class Refusing:
    """An operator as a compiled function that says what it refuses: for operands as those of *case*."""

    def __init__(self, case: Case) -> None:
        self.case = case
        self._noted: list[RefusalCondition] = []
        self._flags = jax.jit(self._traced)

    def _traced(self, operands: list[Any]) -> list[Any]:
        with collect_refusals() as noted:
            JAX.bind(self.case.op, self.case.attrs, None, specs_of(operands))(*operands)
        self._noted = noted
        return [(r.wrong.any(), list(r.values)) for r in noted]

    def error(self, operands: list[Any]) -> Exception | None:
        """The error that *operands* give, compiled."""
        found = self._flags(operands)
        for (wrong, values), refusal in zip(found, self._noted, strict=True):
            if wrong:
                return refusal.error(*map(np.asarray, values))
        return None

    def wrong_operands(self) -> Iterator[list[Any]]:
        """The operands with one after the other wrong."""
        operands = self.case.operands
        for i, operand in enumerate(operands):
            kinds = {a.dtype.kind for a in arrays([operand])}
            for wrong in WRONG.get(min(kinds, default=""), ()):
                yield [*operands[:i], nested(lambda a, w=wrong: np.full_like(a, w), operand), *operands[i + 1 :]]


def _cases(op: OpDef) -> list[Case]:
    """Of the cases that are compiled the first with whole numbers, labels and places mostly, and the first."""
    found = [c for c in cases_of(op, "float64") if not op.needs_values(c.operands, c.attrs)]
    whole = (c for c in found if any(a.dtype.kind == "i" and a.size for a in arrays(c.operands)))
    return [*itertools.islice(whole, 1), *found[:1]]


def compare_refusals(op: OpDef) -> int:
    """Raise AssertionError unless *op* refuses on JAX what it refuses on NumPy; how often it does."""
    refused = 0
    with clean(), warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for case in _cases(op):
            if refused:
                break
            here = Refusing(case)
            for operands in here.wrong_operands():
                error, expected = here.error(operands), _error(case, operands)
                assert (type(error), str(error)) == (type(expected), str(expected))
                refused += expected is not None
    return refused


def _error(case: Case, operands: list[Any]) -> Exception | None:
    """The error that NumPy gives."""
    try:
        call(case.op, operands, case.attrs)
    except Exception as error:
        return error
    return None
