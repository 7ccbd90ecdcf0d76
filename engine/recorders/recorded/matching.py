"""A call of a framework's as one of gradtool's operators."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

Entry = tuple[str, int | None]
"""Where a tensor stands among arguments: the name of one, and the place in it if that is a list."""

Made = Sequence[tuple[tuple[int, ...], str]]
"""The shape and the type of each result of a call."""
Again = Callable[[Sequence[Any], Mapping[str, Any]], Any]
"""Computes a call on other operands, with its attributes; its results in a list, unless it has one alone."""


class Match(NamedTuple):
    """Operator of gradtool's for a call.

    Attributes:
        results: one per output: a tensor, or an array that only the gradient rule reads.
    """

    type: str
    operands: Sequence[Any]
    results: Sequence[Any]
    attrs: Mapping[str, Any]
