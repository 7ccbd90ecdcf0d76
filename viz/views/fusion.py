"""View of operators that are computed together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from gradtool.engine.answers.fused import StepTime
from gradtool.engine.core import source
from gradtool.engine.core.wording import NOTHING, command_line, count
from gradtool.engine.questions.fusion import FusedGroups

from .view import Table, View


def view(answer: FusedGroups, top: int | None = None) -> View:
    """Each group with its operators.

    Args:
        top: only so many of the slowest groups.
    """
    about, story = answer.about, answer.story
    shown = story.groups[:top] if top else story.groups
    next_ = [command_line("gradtool", "stats", "--time", *about.words, "--by", "op")]
    data = {
        "model": about.file,
        "mode": about.mode,
        "repeats": story.repeats,
        "why": story.why or None,
        "groups": [_group(answer, g) for g in shown],
        "alone": {"operators": len(story.alone), "median": sum(s.median for s in story.alone)},
    }
    if story.why:
        return View("fusion", data, [f"nothing is fused: {story.why}"], next_, records="groups")
    table = Table(["group", "operator", "source", "calls", "time µs", "one by one µs", "faster"])
    table.order = ("calls", "source…", "one by one µs", "operator…")
    for number, group in enumerate(shown, 1):
        table.rows += _rows(answer, number, group)
    whole = story.operators + len(story.alone)
    together, alone = (sum(s.median for s in steps) for steps in (story.groups, story.alone))
    last = [
        f"{len(shown)} of {count(len(story.groups), 'group')}",
        f"{story.operators} of {count(whole, 'operator')} in groups",
        f"{1e6 * together:.1f} µs in groups and {1e6 * alone:.1f} µs outside",
        count(story.repeats, "repeat"),
    ]
    return View("fusion", data, [table, " · ".join(last)], next_, records="groups")


def _rows(answer: FusedGroups, number: int, group: StepTime) -> Iterator[Sequence[str]]:
    times = [f"{1e6 * group.median:.1f}", f"{1e6 * group.median_apart:.1f}", _faster(group)]
    yield [str(number), count(len(group.members), "operator"), "", str(group.calls), *times]
    for op in group.members:
        yield [str(number), f"  {answer.name(op)}", source.short(op.loc) or NOTHING, "", "", "", ""]


def _faster(group: StepTime) -> str:
    if group.given_up:
        return "given up: another bit than NumPy's"
    return f"{group.median_apart / group.median:.1f} ×" if group.median else NOTHING


def _group(answer: FusedGroups, group: StepTime) -> dict[str, Any]:
    return {
        "operators": [
            {"name": answer.name(op), "type": op.type, "source": source.short(op.loc) or None} for op in group.members
        ],
        "calls": group.calls,
        "median": group.median,
        "seconds": group.seconds,
        "one_by_one": {"median": group.median_apart, "seconds": group.apart},
        "given_up": group.given_up,
    }
