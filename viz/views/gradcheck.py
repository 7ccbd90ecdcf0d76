"""What is shown of gradients beside differences."""

from __future__ import annotations

from gradtool.engine.core import source
from gradtool.models.questions.gradcheck import Comparison
from gradtool.models.wording import NOTHING, command_line, count, finite, number, shape

from .view import Table, View


def view(answer: Comparison) -> View:
    """Every gradient that was compared, with what is wrong with it."""
    about, entries = answer.about, answer.story.entries
    table = Table(
        ["parameter", "shape", "order", "status", "⟨g, u⟩", "difference", "error", "worst", "ratio", "cause", "source"],
        styles={"ok": "good", "wrong": "bad", "kink": "warn", "unchecked": "warn"},
    )
    rows = []
    for e in entries:
        checked = e.status in ("ok", "wrong")
        worst = NOTHING
        if e.index is not None and e.element is not None:
            worst = f"[{', '.join(map(str, e.index))}] {number(e.element[0])} for {number(e.element[1])}"
        where = source.short(e.loc)
        values = [number(v) if checked else NOTHING for v in (e.analytic, e.numeric, e.error)]
        ratio = number(e.ratio) if e.ratio is not None else NOTHING
        table.rows.append(
            [
                e.name,
                shape(e.shape),
                str(e.order),
                e.status,
                *values,
                worst,
                ratio,
                (e.cause + (f" · look at {e.suspect}" if e.suspect else "")) or NOTHING,
                where or NOTHING,
            ]
        )
        file, _, line = where.rpartition(":")
        rows.append(
            {
                "name": e.name,
                "shape": list(e.shape),
                "dtype": e.dtype,
                "order": e.order,
                "status": e.status,
                "analytic": finite(e.analytic) if checked else None,
                "numeric": finite(e.numeric) if checked else None,
                "error": finite(e.error) if checked else None,
                "worst": None
                if e.index is None or e.element is None
                else {
                    "index": list(e.index),
                    "analytic": finite(e.element[0]),
                    "numeric": finite(e.element[1]),
                    "ratio": None if e.ratio is None else finite(e.ratio),
                },
                "cause": e.cause or None,
                "suspect": e.suspect or None,
                "source": {"file": file, "line": int(line)} if file else None,
            }
        )
    wrong = sum(e.status == "wrong" for e in entries)
    refused = sum(e.status in ("kink", "unchecked") for e in entries)
    last = f"{len(entries) - wrong - refused} of {count(len(entries), 'gradient')} checked and right"
    last += f" · {wrong} wrong" if wrong else ""
    last += f" · {refused} not checked" if refused else ""
    data = {"model": about.name, "mode": about.mode, "entries": rows, "passed": not wrong and not refused}
    next_ = [
        command_line("gradtool", "program", *about.words, "--pairs"),
        command_line("gradtool", "nan", *about.words),
    ]
    return View("gradcheck", data, [table, last], next_)
