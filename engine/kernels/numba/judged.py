"""A group that also says whether the numbers within it are in order, which nothing outside of it sees.

To the members comes one that reads their results and gives truth values: whether every number computed for an element
is finite (or no larger than asked for), element by element. It is traced like the others, so the compiled function
tells it beside its results, where they are computed.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any

import numpy as np

from .compiling import compiled
from .fused import FusedKernel
from .groups import Group
from .layout import NoLayout, count
from .nodes import SUMS, Untraceable
from .stages import staged
from .trace import Traced, operand


def judged(
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
            whole, look = _with_look(kernel, looked, first, largest)
        except (Untraceable, NoLayout):
            continue
        made = FusedKernel(whole, [*kernel.members, look], kernel.explained)
        made.compile(compiled)
        return made, [*look.outs], set(looked)
    return None


def _node(group: Group, register: int) -> Any:
    value = group.values[register]
    assert value is not None
    return value.node


def _is_computed(value: Traced | None) -> bool:
    return value is not None and value.node.op != "constant" and operand(value.node) is None


def _with_look(kernel: FusedKernel, looked: Sequence[int], first: int, largest: float | None) -> tuple[Group, Any]:
    """The group, and the member that looks."""
    group = kernel.group
    by_layout = sorted(looked, key=lambda r: _node(group, r).layout)
    parts = [[*rs] for _, rs in groupby(by_layout, lambda r: _node(group, r).layout)]
    look = _looking([len(rs) for rs in parts], [count(_node(group, rs[0]).layout) for rs in parts], largest)
    values: list[Any] = [group.values[r] for r in by_layout]
    with np.errstate(all="ignore"):
        verdicts = look(*[Traced(v.node, v.shape, operand=True) for v in values])
    outs = tuple([first + i for i in range(len(verdicts))])
    results = [*group.results, *(v.node for v in verdicts)]
    arrays, stages = staged(results)
    whole = replace(
        group,
        members=[*range(len(kernel.members) + 1)],
        outputs=[*group.outputs, *outs],
        values={**group.values, **dict(zip(outs, verdicts, strict=True))},
        results=results,
        arrays=arrays,
        stages=stages,
    )
    return whole, type(kernel.members[0])(None, look, tuple(by_layout), outs, spread=True)


def _looking(sizes: Sequence[int], counts: Sequence[int], largest: float | None) -> Callable[..., list[Any]]:
    """What says of so many values in a row, each of so many elements, whether all are in order there."""

    def in_order(value: Any) -> Any:
        return np.isfinite(value) if largest is None else np.less_equal(np.absolute(value), largest)

    def look(*values: Any) -> list[Any]:
        verdicts, rest = [], iter(values)
        for size, elements in zip(sizes, counts, strict=True):
            verdict = in_order(np.reshape(next(rest), (elements,)))
            for _ in range(size - 1):
                verdict = np.logical_and(verdict, in_order(np.reshape(next(rest), (elements,))))
            verdicts.append(verdict)
        return verdicts

    return look
