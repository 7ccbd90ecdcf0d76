"""View of gradients next to differences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from gradtool.engine.answers.gradcheck import LeafCheck
from gradtool.engine.core import source
from gradtool.engine.core.wording import NOTHING, command_line, count, finite, number, shape
from gradtool.engine.kinds.names import line_of
from gradtool.engine.questions.gradcheck import Comparison

from .view import Table, View, other_losses


def view(answer: Comparison) -> View:
    """Every gradient that was compared, with what is wrong with it."""
    about, entries = answer.about, answer.story.entries
    table = Table(
        ["parameter", "shape", "order", "status", "⟨g, u⟩", "difference", "error", "worst", "ratio", "cause", "source"],
        [_cells(e) for e in entries],
        {"ok": "good", "wrong": "bad", "kink": "warn", "unchecked": "warn"},
        (
            "order",
            "worst",
            "⟨g, u⟩",
            "difference",
            "ratio",
            "shape",
            "cause…",
            "source…",
            "parameter…",
            "source",
            "error",
        ),
        "status",
    )
    statuses = Counter(e.status for e in entries)
    wrong, refused = statuses["wrong"], statuses["kink"] + statuses["unchecked"]
    last = f"{len(entries) - wrong - refused} of {count(len(entries), 'gradient')} checked and right"
    last += f" · {wrong} wrong" if wrong else ""
    last += f" · {refused} not checked" if refused else ""
    others, others_data = other_losses(about, "gradcheck")
    data = {
        "model": about.file,
        "mode": about.mode,
        "entries": [_data(e) for e in entries],
        "findings": answer.findings,
        "others": others_data,
        "passed": not wrong and not refused,
    }
    next_ = [
        command_line("gradtool", "graph", *about.words, "--pairs"),
        command_line("gradtool", "nan", *about.words),
    ]
    unrepeated = [f"not looked at: {_name_list(entries)}: {cause}" for cause, entries in answer.story.obstacles.items()]
    told = "\n".join([last, *unrepeated, *others])
    return View("gradcheck", data, [table, told], next_, records="entries")


def _name_list(entries: Sequence[LeafCheck]) -> str:
    """Return how gradients are named together: the first ones, and how many there are."""
    names = list(dict.fromkeys(e.name for e in entries))
    more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    return f"{'gradient' if len(names) == 1 else 'gradients'} of {', '.join(names[:_MOST_NAMED])}{more}"


_MOST_NAMED = 3
"""So many gradients are named where one reason holds for several."""


def _is_compared(e: LeafCheck) -> bool:
    return e.status in ("ok", "wrong")


def _cells(e: LeafCheck) -> list[str]:
    values = [number(v) if _is_compared(e) else NOTHING for v in (e.analytic, e.numeric, e.error)]
    worst = NOTHING
    if e.index is not None and e.element is not None:
        worst = f"[{', '.join(map(str, e.index))}] {number(e.element[0])} for {number(e.element[1])}"
    ratio = number(e.ratio) if e.ratio is not None else NOTHING
    cause = e.cause + (f" · look at {e.suspect}" if e.suspect else "")
    head = [e.name, shape(e.shape), str(e.order), e.status]
    return [*head, *values, worst, ratio, cause or NOTHING, source.short(e.loc) or NOTHING]


def _data(e: LeafCheck) -> dict[str, Any]:
    def finite_or_none(value: float) -> Any:
        return finite(value) if _is_compared(e) else None

    return {
        "name": e.name,
        "shape": list(e.shape),
        "dtype": e.dtype,
        "order": e.order,
        "status": e.status,
        "analytic": finite_or_none(e.analytic),
        "numeric": finite_or_none(e.numeric),
        "error": finite_or_none(e.error),
        "worst": _worst(e),
        "cause": e.cause or None,
        "suspect": e.suspect or None,
        "source": line_of(e.loc),
    }


def _worst(e: LeafCheck) -> dict[str, Any] | None:
    if e.index is None or e.element is None:
        return None
    return {
        "index": list(e.index),
        "analytic": finite(e.element[0]),
        "numeric": finite(e.element[1]),
        "ratio": None if e.ratio is None else finite(e.ratio),
    }
