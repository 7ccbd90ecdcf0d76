"""Search for the known cause that explains the bad elements in an operator's result."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..core.records import dataclass
from ..view.graph import BACKWARD
from . import causes, conditions
from .events import OpEvent
from .makers import Makers


@dataclass(frozen=True)
class Explanation:
    """Why numbers went bad.

    Attributes:
        text: what happened.
        advice: what to do about it, or empty.
        masked: whether the gradient that arrived was 0 there: the elements were not used later on.
        unread: what to do where no later operator that reads the result passes a test.
    """

    text: str
    advice: str
    masked: bool = False
    unread: causes.Unread | None = None


def has_empty_row(event: OpEvent, bad: np.ndarray[Any, Any]) -> bool:
    """Return whether an operator that chooses among scores had a row without any, where its output is bad."""
    if event.type not in causes.CHOOSING.split():
        return False
    try:
        empty = conditions.rows(conditions.SlotValues(event, bad, np.dtype(np.float64)), conditions.no_score)
    except (StopIteration, KeyError, ValueError):
        return False
    return bool(empty.any())


def explain(
    event: OpEvent, bad: np.ndarray[Any, Any], dtype: Any, kind: str, makers: Makers | None = None
) -> Explanation:
    """The explanation of bad elements, of one *kind*, in an output of *event*.

    Args:
        makers: who made what it read, as far as that is known.
    """
    s = conditions.SlotValues(event, bad, dtype, kind, makers)
    elsewhere: tuple[causes.Cause, np.ndarray[Any, Any]] | None = None
    for entry in causes.CAUSES:
        if not entry.may_hold(event.type):
            continue
        if not entry.ops and elsewhere is not None:
            break  # what is known of the operator says more than what is true of all
        holds = _test(entry, s)
        if holds is None or not holds.any():
            continue
        if holds.shape == bad.shape:
            if not (holds & bad).any():
                elsewhere = elsewhere or (entry, holds)
                continue
            holds = holds & bad
        return _explanation(entry, event, s, holds, bad)
    assert elsewhere is not None, "the last line of the table holds always"
    entry, holds = elsewhere
    return _explanation(entry, event, s, holds, bad)


def _test(entry: causes.Cause, s: conditions.SlotValues) -> np.ndarray[Any, Any] | None:
    """Return where a cause holds; None where the operator was called without that slot, or shapes do not tell."""
    with np.errstate(all="ignore"):
        try:
            return np.asarray(entry.test(s))
        except (StopIteration, KeyError, ValueError):
            return None


def _explanation(
    entry: causes.Cause,
    event: OpEvent,
    s: conditions.SlotValues,
    holds: np.ndarray[Any, Any],
    bad: np.ndarray[Any, Any],
) -> Explanation:
    advice = entry.advice_for(s).format(made=s.maker("X").type)
    return Explanation(_fill(entry, event, s, holds), advice, _is_masked(event, s, bad), entry.unread)


def _is_masked(event: OpEvent, s: conditions.SlotValues, bad: np.ndarray[Any, Any]) -> bool:
    """Return whether the gradient arrived as 0 at all bad elements."""
    if event.part != BACKWARD or not any(v.is_gradient for v in event.inputs):
        return False
    dout = s.dout
    return dout.shape == bad.shape and not dout[bad].any()


def _fill(entry: causes.Cause, event: OpEvent, s: conditions.SlotValues, holds: np.ndarray[Any, Any]) -> str:
    total = holds.size
    n = int(holds.sum())
    what = entry.each if total == 1 else f"{entry.each}s"
    sizes = [np.abs(a[np.isfinite(a)]) for a in s.operands()]
    facts: Mapping[str, Any] = {
        "op": event.type,
        "count": f"{n} of {total} {what}",
        "dtype": s.dtype.name,
        "limit": s.limit,
        "log_limit": f"{np.log(s.limit):.4g}",
        "largest": f"{max((float(a.max()) for a in sizes if a.size), default=0.0):.4g}",
        "smallest": f"{min((float(a[a > 0].min()) for a in sizes if (a > 0).any()), default=0.0):.4g}",
        "factor": event.attrs.get("factor"),
    }
    return entry.text.format(**facts)
