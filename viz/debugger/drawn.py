"""Random operators, when they run again: with the numbers that they drew the first time."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from gradtool.engine.kernels.backend import backend
from gradtool.engine.ops.opdef import OpDef

from .timeline import Entry


def as_drawn(entry: Entry, made: Sequence[Any]) -> None:
    """Have an entry that draws random numbers give the same ones again, whatever it reads."""
    origin = entry.origin
    again = masked(origin.op, origin.attrs, made[1]) if entry.type in MASKED and len(made) > 1 else None
    kept = list(made)
    entry.kernel = again if again is not None else lambda *operands: kept
    if again is not None:
        entry.fixed = ""


MASKED = frozenset({"dropout"})
"""Random operators that say in a second output what they drew."""


def masked(op: OpDef, attrs: Mapping[str, Any], mask: Any) -> Callable[..., Any]:
    """A kernel of such an operator for a mask that was drawn."""
    rule, engine = op.rule, backend("numpy")
    assert rule is not None

    def run(x: Any, *rest: Any) -> Sequence[Any]:
        # The rule multiplies the gradient by the mask as the operator does its operand.
        args = [mask if r.kind == "out" else x for r in rule.reads]
        return [rule(engine.ops, args, [[True]], attrs)[0][0], mask]

    return run
