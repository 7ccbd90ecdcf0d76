"""What is shown of what forward and backward take."""

from __future__ import annotations

import json
from typing import Any

from gradtool.models.questions.profile import Costs
from gradtool.models.wording import command_line, count

from ..bars import spark
from .view import Table, View


def stacks(answer: Costs, file: str) -> str:
    """What programs that draw flame graphs read: speedscope's JSON in a ``.json`` file, folded stacks in others."""
    story, name = answer.story, answer.about.name
    return json.dumps(story.speedscope(name), indent=1) + "\n" if file.endswith(".json") else str(story.flame())


def view(answer: Costs, by: str = "type", top: int | None = None) -> View:
    """Time and bytes.

    Args:
        by: what a row is: ``op``, ``type``, ``layer``, ``line``, ``iteration`` or ``part``.
        top: only so many of the slowest.
    """
    about, story = answer.about, answer.story
    groups = story.by(by)
    shown = groups[:top] if top else groups
    total = story.total
    table = Table([by, "calls", "time µs", "spread µs", "share", "repeats", "bytes"])
    table.order = ("repeats", "spread µs", "calls", f"{by}…", "bytes")
    rows = []
    for g in shown:
        share = g.median / total.median if total.median else 0.0
        table.rows.append(
            [
                g.name,
                str(g.calls),
                f"{1e6 * g.median:.1f}",
                f"{1e6 * g.spread:.1f}",
                f"{100 * share:.1f} %",
                spark(g.seconds),
                str(g.nbytes),
            ]
        )
        rows.append({"name": g.name, **_data(g), "share": share})
    last = (
        f"{len(shown)} of {count(len(groups), by)} · {1e6 * total.median:.1f} µs in {count(total.calls, 'op')} "
        f"(spread {1e6 * total.spread:.1f}) · {count(story.repeats, 'repeat')}"
    )
    data = {
        "model": about.name,
        "mode": about.mode,
        "by": by,
        "repeats": story.repeats,
        "total": _data(total),
        "groups": rows,
    }
    more = "line" if by != "line" else "op"
    next_ = [
        command_line("gradtool", "profile", *about.words, "--by", more),
        command_line("gradtool", "profile", *about.words, "--flame", "stacks.txt"),
    ]
    return View("profile", data, [table, last], next_)


def _data(g: Any) -> dict[str, Any]:
    return {"calls": g.calls, "bytes": g.nbytes, "median": g.median, "spread": g.spread, "seconds": g.seconds}
