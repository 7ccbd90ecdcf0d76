"""A call of a framework's as one of gradtool's operators."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple


class Match(NamedTuple):
    """What a call is here.

    Attributes:
        results: one per output: a tensor, or an array that only the gradient rule reads.
    """

    type: str
    operands: Sequence[Any]
    results: Sequence[Any]
    attrs: Mapping[str, Any]
