"""The recorded calls behind a loss in the form of a run, without values: what a look at operators alone needs."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count

import numpy as np

from ...eager.recorded_calls import nodes_behind
from ...eager.tape import GradNode, Place
from ...eager.tensor import Tensor
from ...runs.store import Store
from ...runs.timeline import Entry, Timeline, Value
from ...view.graph import FORWARD

_GUARD = np.full((), 2.0)


def record_nodes(roots: Sequence[Tensor], title: str) -> tuple[Timeline, list[int]]:
    """Return the calls behind *roots* as entries, and the numbers of the leaves that take gradients.

    Of an operand that gets no gradient the value is not known: it is taken for a positive number, which may be a guard.
    """
    numbers: dict[Place, int] = {}
    values: list[Value] = []
    fresh, store = count(), Store()

    def number(place: Place | None, maker: int) -> int:
        known = None if place is None else numbers.get(place)
        if known is not None:
            return known
        new = next(fresh)
        values.append(Value("", maker))
        if place is not None:
            numbers[place] = new
        else:
            store.keep(new, _GUARD)
        return new

    entries: list[Entry] = []
    for index, node in enumerate(nodes_behind(roots)):
        operands = [number(place, -1) for place in node.wrt]
        made = [number((node, i), index) for i in range(len(node.shapes))]
        entry = Entry(index, node.op.type, node.op.type, FORWARD, node.loc, pair=index, operands=operands, origin=node)
        entry.reads = list(zip(_slots(node), operands, strict=False))
        entry.outs = [("Out", n) for n in made]
        entries.append(entry)
    leaves = [n for place, n in numbers.items() if not isinstance(place, tuple)]
    return Timeline(title, "eager", entries, values, store, {}, len(entries)), leaves


def _slots(node: GradNode) -> list[str]:
    """The slots of the inputs that a call gives gradients to."""
    rule = node.op.rule
    inputs = getattr(node.op, "inputs", None)
    if rule is None:
        return []
    # A layer of the user's own has no slots.
    return [f"X{i}" for i in rule.wrt] if inputs is None else [inputs[i].name for i in rule.wrt]
