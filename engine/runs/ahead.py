"""A backward pass that is running: where it stands, and what it is going to do, before it has done it.

The rest of the pass is laid out from the tape alone. Its values are computed when they are asked for, as any value of a
timeline, so nothing of the running program is touched.
"""

from __future__ import annotations

from heapq import heapify, heappop, heappush
from typing import Any

from ..eager import backward
from ..eager.tape import GradNode, Place
from ..eager.tensor import Keep, Leaf
from .calls import Hooked, PassRecord, Pull
from .recorder import Recorder
from .timeline import NOBODY


def lay_out(recorder: Recorder, running: backward.Pass) -> int:
    """Add to the last pass of *recorder* what *running* has yet to do.

    Returns:
        How many of its events were there before: the next one is what the pass is doing now.
    """
    if recorder.last is None or recorder.last.roots != tuple(running.roots):
        recorder.last = PassRecord(tuple(running.roots))
        _arrived(recorder, recorder.last, running)
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
        for place in _next(recorder, work, running, node, hooked):
            if isinstance(place, Leaf) or place[0].key in waiting:
                continue
            if running.needed is None or place[0] in running.needed:
                waiting[place[0].key] = place[0]
                heappush(keys, place[0].key)
    return done


def _arrived(recorder: Recorder, work: PassRecord, running: backward.Pass) -> None:
    """The gradients that have arrived so far, of a pass that nobody recorded."""
    entries = [*running.pending.values(), *([running.at] if running.at is not None else [])]
    gradients: list[tuple[Place, Any]] = [((e[0], i), g) for e in entries for i, g in enumerate(e[1:])]
    gradients += running.leaves.items()
    for place, gradient in gradients:
        if gradient is not None and not isinstance(gradient, list):
            number = recorder.unknown()
            recorder.store.keep(number, getattr(gradient, "array", gradient).copy())
            work.totals[place] = work.seeds[place] = number


def _next(recorder: Recorder, work: PassRecord, running: backward.Pass, node: GradNode, hooked: bool) -> list[Place]:
    """Lay out the differentiation of one recorded operator; the places that it sends gradients to."""
    wrt = tuple(p if p is not None and running.flows_to(p) else None for p in node.wrt)
    if not any(p is not None for p in wrt):
        return []
    arriving: list[int | None] = []
    for i in range(len(node.shapes)):
        number = work.totals.get((node, i))
        hooks = [h for h in (node.hooks or {}).get(i, {}).values() if not isinstance(h, Keep)]
        if number is not None and hooks and hooked:
            after = recorder.unknown()
            work.events.append(Hooked(number, after, (node, i), hooks, node.loc))
            work.totals[node, i] = number = after
        arriving.append(number)
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
    return [p for p in wrt if p is not None]
