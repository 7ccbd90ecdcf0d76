"""A group that also says whether the numbers within it are in order, which nothing outside of it sees.

To the members comes one that reads their results and gives truth values: whether every number computed for an element
is finite (or no larger than asked for), element by element. It is traced like the others, so the compiled function
tells it beside its results, where they are computed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from functools import reduce
from itertools import groupby
from typing import Any

import numpy as np

from .compiling import compile_source
from .fused import FusedKernel
from .groups import InstructionGroup
from .layout import NoLayout, count, size
from .nodes import SUMS, Untraceable
from .stages import divide_stages
from .trace import Traced, domain, operand


def add_judge(
    kernel: FusedKernel, numbers: Collection[int], first: int, largest: float | None
) -> tuple[FusedKernel, list[int], set[int]] | None:
    """*kernel* with a look at the numbers that it computes.

    Args:
        numbers: the registers that are to be looked at, if they are the group's.
        first: the number of a register from which on there is nothing.
        largest: the largest size of a number that is in order; None where all finite ones are.

    Returns:
        The kernel, whose last results are truth values, their registers, and which of the numbers these are about.
        None if that cannot be compiled.
    """
    group = kernel.group
    inner = [r for r in group.values if r in numbers and _is_computed(group.values[r])]
    unseen = [r for r in inner if r not in group.outputs]
    if not unseen:
        return kernel, [], set()
    # Sums over rows are few numbers, which are there when the rows have been gone through.
    all_but_sums = [r for r in inner if r in unseen or _node(group, r).op not in SUMS]
    for looked in (all_but_sums, unseen):
        try:
            whole, look = _add_look(kernel, looked, first, largest)
        except (Untraceable, NoLayout):
            continue
        made = FusedKernel(whole, [*kernel.members, look], kernel.explained)
        made.compile(compile_source)
        return made, [*look.outs], set(looked)
    return None


def _node(group: InstructionGroup, register: int) -> Any:
    value = group.values[register]
    assert value is not None
    return value.node


def _is_computed(value: Traced | None) -> bool:
    if value is None or value.node.op in ("constant", "joined"):  # whose parts are looked at, and what others read
        return False
    return operand(value.node) is None


def _add_look(
    kernel: FusedKernel, looked: Sequence[int], first: int, largest: float | None
) -> tuple[InstructionGroup, Any]:
    """The group, and the member that looks."""
    group = kernel.group
    values = [Traced(_node(group, r), _shape(group, r), operand=True) for r in looked]
    pieces = [(i, cut, _cut(values[i], cut).node.layout) for i in range(len(looked)) for cut in _cuts(group, values[i])]
    pieces.sort(key=lambda piece: piece[2])
    parts = [[*rs] for _, rs in groupby(pieces, lambda piece: piece[2])]
    look = _make_look([[(i, cut) for i, cut, _ in rs] for rs in parts], [count(rs[0][2]) for rs in parts], largest)
    with np.errstate(all="ignore"):
        verdicts = look(*values)
    outs = tuple([first + i for i in range(len(verdicts))])
    results = [*group.results, *(v.node for v in verdicts)]
    arrays, stages = divide_stages(results)
    whole = replace(
        group,
        members=[*range(len(kernel.members) + 1)],
        outputs=[*group.outputs, *outs],
        values={**group.values, **dict(zip(outs, verdicts, strict=True))},
        results=results,
        arrays=arrays,
        stages=stages,
    )
    return whole, type(kernel.members[0])(None, look, tuple(looked), outs, spread=True)


def _shape(group: InstructionGroup, register: int) -> tuple[int, ...]:
    value = group.values[register]
    assert value is not None
    return value.shape


def _cuts(group: InstructionGroup, value: Traced) -> list[Any]:
    """The parts in which a group computes *value*, if it is wider than the others; None for all of it.

    Raises:
        Untraceable: they are not all of it.
    """
    if size(value.node.layout) in (1, domain(group.results)):
        return [None]
    cuts = {v.cut for v in group.values.values() if v is not None and v.cut is not None}
    fitting = sorted(cut for cut in cuts if math.prod(cut[0]) == value.size)
    if not fitting or sum(end - begin for _, begin, end in fitting) != fitting[0][0][1]:
        raise Untraceable("parts")
    return fitting


def _cut(value: Any, cut: Any) -> Any:
    if cut is None:
        return value
    dims, begin, end = cut
    return np.reshape(value, dims)[:, begin:end]


def _make_look(
    places: Sequence[Sequence[tuple[int, Any]]], counts: Sequence[int], largest: float | None
) -> Callable[..., list[Any]]:
    """Return a function that checks whether all of some values are finite, given how many elements each has."""

    def is_finite(value: Any) -> Any:
        return np.isfinite(value) if largest is None else np.less_equal(np.absolute(value), largest)

    def look(*values: Any) -> list[Any]:
        verdicts = []
        for parts, elements in zip(places, counts, strict=True):
            checked = [is_finite(np.reshape(_cut(values[i], cut), (elements,))) for i, cut in parts]
            verdicts.append(reduce(np.logical_and, checked))
        return verdicts

    return look
