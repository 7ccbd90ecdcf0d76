"""A backward pass that is running: where it stands, and what it is going to do, before it has done it.

The rest of the pass is laid out from the tape alone. Its values are computed when they are asked for, as any value of a
timeline, so nothing of the running program is touched.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from heapq import heapify, heappop, heappush
from typing import Any

from ..eager.passes import Pass
from ..eager.tape import GradNode, Place
from ..eager.tensor import Keep, Leaf
from .calls import Hooked, PassRecord, Pull
from .recorder import Recorder
from .timeline import NOBODY


def lay_out(recorder: Recorder, running: Pass) -> int:
    """Add to the last pass of *recorder* what *running* has yet to do.

    Returns:
        How many of its events were there before: the next one is what the pass is doing now.
    """
    if recorder.last is None or recorder.last.roots != tuple(running.roots):
        recorder.last = PassRecord(tuple(running.roots))
        _note_arrivals(recorder, recorder.last, running)
    work = recorder.last
    done = len(work.events)
    waiting = {key: entry[0] for key, entry in running.pending.items()}
    current = running.at[0] if running.at is not None else None
    if current is not None:
        waiting[current.key] = current
    keys = list(waiting)
    heapify(keys)
    while keys:
        node = waiting[heappop(keys)]
        hooked = node is not current or running.hooking
        for maker in _makers(_next(recorder, work, running, node, hooked), running):
            if maker.key not in waiting:
                waiting[maker.key] = maker
                heappush(keys, maker.key)
    return done


def _makers(places: Sequence[Place], running: Pass) -> Iterator[GradNode]:
    """The operators that made what is at these places, as far as the pass comes to them."""
    for place in places:
        if isinstance(place, Leaf):
            continue
        if running.needed is None or place[0] in running.needed:
            yield place[0]


def _note_arrivals(recorder: Recorder, work: PassRecord, running: Pass) -> None:
    """The gradients that have arrived so far, of a pass that nobody recorded."""
    entries = [*running.pending.values(), *([running.at] if running.at is not None else [])]
    gradients: list[tuple[Place, Any]] = [((e[0], i), g) for e in entries for i, g in enumerate(e[1:])]
    gradients += running.leaves.items()
    for place, gradient in gradients:
        if gradient is not None and not isinstance(gradient, list):
            number = recorder.unknown()
            recorder.store.keep(number, getattr(gradient, "array", gradient).copy())
            work.totals[place] = work.seeds[place] = number


def _next(recorder: Recorder, work: PassRecord, running: Pass, node: GradNode, hooked: bool) -> list[Place]:
    """Lay out the differentiation of one recorded operator; the places that it sends gradients to."""
    wrt = tuple(p if p is not None and running.flows_to(p) else None for p in node.wrt)
    targets = [p for p in wrt if p is not None]
    if not targets:
        return []
    arriving = [_gradient_of_result(recorder, work, node, i, hooked) for i in range(len(node.shapes))]
    outs, sums = [], []
    for place in wrt:
        if place is None:
            outs.append(NOBODY)
            continue
        number = recorder.unknown()
        outs.append(number)
        before = work.totals.get(place)
        if before is not None:
            total = recorder.unknown()
            sums.append((total, before, number))
            number = total
        work.totals[place] = number
    work.events.append(Pull(node, recorder.read(node, arriving), arriving, wrt, outs, sums))
    return targets


def _gradient_of_result(recorder: Recorder, work: PassRecord, node: GradNode, index: int, hooked: bool) -> int | None:
    """The gradient of a result, after its hooks if these are yet to run."""
    place = node, index
    number = work.totals.get(place)
    hooks = [h for h in (node.hooks or {}).get(index, {}).values() if not isinstance(h, Keep)]
    if number is None or not hooks or not hooked:
        return number
    after = work.totals[place] = recorder.unknown()
    work.events.append(Hooked(number, after, place, hooks, node.loc))
    return after
