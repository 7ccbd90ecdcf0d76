"""Operators made of straight pieces, whose second derivative is zero everywhere, and gradients that came through them.

A recorded pass notes the ones that it went through by the place of each gradient that it gave. A later pass that
reaches nothing finds them there: it explains why the gradients do not depend on what they were taken by.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

from ..core import source
from .recorded_calls import nodes_behind
from .tape import Place
from .tensor import Leaf, Tensor

BENT = {
    "abs": "abs",
    "brelu": "hardtanh",
    "clip": "clip",
    "elementwise_fmax": "fmax",
    "elementwise_fmin": "fmin",
    "elementwise_max": "maximum",
    "elementwise_min": "minimum",
    "hard_shrink": "hardshrink",
    "hard_sigmoid": "hardsigmoid",
    "leaky_relu": "leaky_relu",
    "max_pool2d_with_index": "max_pool",
    "max_pool3d_with_index": "max_pool",
    "reduce_amax": "amax",
    "reduce_amin": "amin",
    "reduce_max": "max",
    "reduce_min": "min",
    "relu": "relu",
    "relu6": "relu6",
    "softshrink": "softshrink",
    "thresholded_relu": "thresholded_relu",
}
"""By type of operator, the name of its public function."""


class Bend(NamedTuple):
    """One such operator on the way of a gradient."""

    op_type: str
    site: Any

    def __str__(self) -> str:
        """Return ``the second derivative of relu is zero everywhere: at train.py:7``."""
        place = source.short(source.locate(self.site))
        return f"the second derivative of {BENT[self.op_type]} is zero everywhere" + (f": at {place}" if place else "")


_passed: WeakKeyDictionary[Any, dict[Any, tuple[Bend, ...]]] = WeakKeyDictionary()
"""By the node or the leaf of a gradient, and by the node or the leaf that it was taken by."""


def note(gradient: Tensor, by: Place, bends: Iterable[Bend]) -> None:
    """Note the operators that *gradient*, which was taken by the tensor at *by*, has come through."""
    noted = tuple(dict.fromkeys(bends))
    if noted:
        _passed.setdefault(_key(gradient.tape_place()), {})[_key(by)] = noted


def find(roots: Sequence[Tensor], by: Place) -> Bend | None:
    """Return an operator that keeps what *roots* were computed from from depending on the tensor at *by*."""
    if not _passed:
        return None
    nodes = nodes_behind(roots)
    places = [t.tape_place() for t in roots if not t._stop] + [p for node in nodes for p in node.wrt if p is not None]
    for place in places:
        bends = _passed.get(_key(place), {}).get(_key(by))
        if bends:
            return bends[0]
    return None


def _key(place: Place) -> Any:
    return place if isinstance(place, Leaf) else place[0]
