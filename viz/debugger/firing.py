"""Choice of the backward pass to record: the first one in which something is caught.

The question is asked after every pass of a training file, so it is answered from what was written down, without making
a timeline of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from gradtool.engine.runs.calls import Hooked, flat
from gradtool.engine.runs.recorder import Recorder

from . import stops


def first_with(catches: Sequence[str]) -> Callable[[Recorder], bool] | None:
    """Return whether one of *catches* (``nan``, ``inf``, ``big=1e4``, ``zero``) finds something in a pass.

    None if none of them can tell passes apart: what gets no gradient at all gets none in any pass.

    Raises:
        VerbError: there is no such catch.
    """
    asked = [pair for pair in map(stops.catch, catches) if pair[0] != "none"]
    if not asked:
        return None

    def fires(recorder: Recorder) -> bool:
        return any(_fires(recorder, kind, limit) for kind, limit in asked)

    return fires


def _fires(recorder: Recorder, kind: str, limit: float) -> bool:
    get = recorder.store.get
    made: set[int] = set()
    for read, arriving, outs, backward in _operators(recorder):
        if kind in ("nan", "inf") and any(stops.wrong(get(n), kind, limit) == kind for n in read if n not in made):
            return True  # it came in: data, or a weight
        made.update(outs)
        made.update(read)
        faults = [fault for n in outs if (fault := stops.wrong(get(n), kind, limit))]
        if not faults:
            continue
        if kind == "zero":
            if backward and any(np.any(np.asarray(get(n))) for n in arriving if get(n) is not None):
                return True
        elif not all(stops.is_carried(fault, (stops.wrong(get(n), kind, limit) for n in read)) for fault in faults):
            return True
    return False


def _operators(recorder: Recorder) -> Iterator[tuple[list[int], list[Any], list[int], bool]]:
    """Yield what each operator of the last pass read, which gradients arrived, what it made; and the forward ones
    before.
    """
    for call in recorder.calls:
        yield flat(call.operands), [], flat(call.outs), False
    for event in recorder.last.events if recorder.last is not None else ():
        if not isinstance(event, Hooked):
            arriving = [n for n in event.arriving if n is not None]
            yield [*flat(event.operands or ()), *arriving], arriving, flat(event.outs), True
