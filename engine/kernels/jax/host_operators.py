"""Operators that are not compiled, and why: the reference computes them between compiled parts."""

from __future__ import annotations

from typing import Any

import jax

from ...ops.opdef import Trait

REASONS: tuple[tuple[Trait, str], ...] = (
    (Trait.RANDOM | Trait.VALUES, "what it draws, it draws until something holds"),
    (Trait.EFFECT, "it does something beside computing: printing, checking, calling Python"),
    (Trait.VALUES, "the shape of its result depends on values"),
)
"""By what an operator's definition says of it."""

BLOCK = "it runs a block as values say"
"""Why an operator with a block is not compiled."""


class NeedsValues(Exception):
    """An operator in a block is not compiled, for a reason that is known before tracing it."""


WANTS_VALUES = (
    NeedsValues,
    jax.errors.ConcretizationTypeError,
    jax.errors.TracerArrayConversionError,
    jax.errors.TracerIntegerConversionError,
    jax.errors.NonConcreteBooleanIndexError,
)
"""What a kernel that looks into its operands raises while it is traced (``TracerBoolConversionError`` is one of them).
Nothing else moves an operator out of the compiled part: any other exception is an error."""


def reason(op: Any) -> str:
    """Why the operator of that program is not compiled; empty where it is."""
    return next((text for trait, text in REASONS if trait in op.op.trait), "")


def stop_reason(error: Exception) -> str:
    """The reason, where tracing has stopped with *error*."""
    if isinstance(error, NeedsValues):
        return str(error)
    first = str(error).strip().partition("\n")[0].partition(": ")[0]
    return f"its kernel looks into values that are computed ({first or type(error).__name__})"
