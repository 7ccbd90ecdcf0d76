"""Gradient rules of the user's own, and those that are no derivative on purpose.

A rule that hands a gradient on through what is flat (rounding, a comparison: straight-through codes, surrogates of
spikes), or that gives another gradient to what is handed on unchanged (reversal, scaling), is meant to be no
derivative: there is no other reason to write it. Whoever compares gradients with differences does not hold it against
them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from ..core.identity import identity
from ..eager.tape import GradNode
from ..eager.tensor import Leaf
from ..runs.places import TapeValues
from ..runs.timeline import NOBODY, Timeline

_FLAT = frozenset(("floor", "ceil", "round", "sign", "trunc", "elementwise_floordiv", "one_hot_v2"))
"""Operators with a derivative of zero wherever they have one; those without a rule are beside these."""


def is_own(node: GradNode) -> bool:
    """Return whether the gradient of a recorded call is the user's own: of a PyLayer, or an ``autograd.Function``."""
    return getattr(node.op, "grad_op", None) is None and bool(getattr(node, "rule_at", True))


def leaves_of(nodes: Iterable[GradNode]) -> set[Leaf]:
    """The leaves that gradients of these calls go to."""
    todo, seen, leaves = list(nodes), set(), set()
    while todo:
        node = todo.pop()
        if identity(node) in seen:
            continue
        seen.add(identity(node))
        for place in node.wrt:
            if isinstance(place, Leaf):
                leaves.add(place)
            elif place is not None:
                todo.append(place[0])
    return leaves


def find_meant(run: Timeline, places: TapeValues, nodes: Iterable[GradNode]) -> Iterator[GradNode]:
    """Those of the user's own rules that are no derivative on purpose."""
    for node in nodes:
        taken = {places.at[p] for p in node.wrt if p is not None and p in places.at}
        given = {places.at[node, i] for i in range(len(node.shapes)) if (node, i) in places.at}
        if taken and given and (_hands_on(run, taken, given) or not _is_led_to(run, taken, given)):
            yield node


def _hands_on(run: Timeline, taken: set[int], given: set[int]) -> bool:
    """Return whether all that a call gives is what it was given."""
    values = [np.asarray(run.store.get(n)) for n in taken if n in run.store]
    return all(
        n in run.store and any(np.array_equal(v, np.asarray(run.store.get(n)), equal_nan=False) for v in values)
        for n in given
    )


def _is_led_to(run: Timeline, taken: set[int], given: set[int]) -> bool:
    """Return whether operators with a derivative lead from what a call takes to what it gives."""
    todo, seen = list(given), set()
    while todo:
        number = todo.pop()
        if number in taken:
            return True
        maker = run.values[number].maker
        if number in seen or maker == NOBODY:
            continue
        seen.add(number)
        entry = run.entries[maker]
        op = getattr(entry.origin, "op", None)
        if entry.type not in _FLAT and getattr(op, "rule", None) is not None:
            todo += entry.inputs
    return False
