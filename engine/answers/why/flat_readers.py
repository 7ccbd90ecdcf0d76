"""A saturated operator behind a relu: gradients arrive at the relu only where it gives 0, since all else is flat there.

Each of the two lets through what the other one stops. The relu is at work as it should be, so the other one is the
cause.
"""

from __future__ import annotations

from typing import Final

from .intended_cuts import COPIES, LAYOUTS
from .levels import dense
from .reasons import C, V
from .slopes import Slopes, Use
from .zeros import FLAT_OUTPUTS

_PASSED: Final = (
    COPIES
    | LAYOUTS
    | frozenset(("scale", "concat", "stack", "elementwise_add", "elementwise_sub", "elementwise_mul", "dropout"))
)
"""Operators between the two that give each element on for itself."""

_FAR: Final = 64
"""Values that are looked at."""


def find_flat_reader(use: Use[V, C], slopes: Slopes[V, C]) -> tuple[C, str] | None:
    """Return the call behind *use*, a relu, that is flat wherever the relu is not, and what is said of it."""
    todo, seen = list(use.onto), set(use.onto)
    for value in todo:
        for reader in slopes.uses.get(value, ()) if len(seen) < _FAR else ():
            if reader.type in FLAT_OUTPUTS:
                share = _flat_share(reader, slopes)
                # It may read what other branches give, too, which are flat less often.
                if 2 * share >= 1 - _share_of_zeros(use):
                    return reader.call, f"{100 * share:.3g} % of the outputs of {reader.type} are saturated"
            elif reader.type in _PASSED:
                todo += [w for w in reader.onto if w not in seen]
                seen.update(reader.onto)
    return None


def _share_of_zeros(use: Use[V, C]) -> float:
    return 0.0 if use.killer is None or use.killer.share is None else use.killer.share / 100


def _flat_share(reader: Use[V, C], slopes: Slopes[V, C]) -> float:
    """Return which share of what a call gives is at its limit."""
    made = next((slopes.made[w] for w in reader.onto if w in slopes.made), None)
    outputs = {} if made is None else made.inside()[1]
    out = next((dense(a) for a in outputs.values() if a is not None and not isinstance(a, (list, tuple))), None)
    return 0.0 if out is None or not out.size else float(FLAT_OUTPUTS[reader.type](out).mean())
