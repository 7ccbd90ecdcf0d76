"""View of the time and memory of forward and backward."""

from __future__ import annotations

import json
import statistics
from typing import Any

from gradtool.engine.answers.profile import DeviceTime, OperatorGroup
from gradtool.engine.core.wording import NOTHING, command_line, count, percentages
from gradtool.engine.questions.profile import Costs
from gradtool.engine.view.graph import BACKWARD, FORWARD

from ..bars import spark
from .view import Table, View


def stacks(answer: Costs, file: str) -> str:
    """Return the input of flame graph viewers: speedscope's JSON in a ``.json`` file, else folded stacks."""
    story, name = answer.story, answer.about.name
    return json.dumps(story.speedscope(name), indent=1) + "\n" if file.endswith(".json") else str(story.flame())


def view(answer: Costs, by: str = "type", top: int | None = None) -> View:
    """Time and bytes.

    Args:
        by: what a row is: ``op``, ``type``, ``layer``, ``line``, ``iteration`` or ``part``.
        top: only so many of the slowest.
    """
    about, story = answer.about, answer.story
    device = story.device
    groups = story.group_by(by)
    shown = groups[:top] if top else groups
    total = story.total
    parts = [part for part in (FORWARD, BACKWARD) if part in total.parts]
    table = Table([by, "calls", "time µs", "spread µs", *parts, "repeats", "bytes"])
    table.order = ("repeats", "spread µs", "calls", f"{by}…", "bytes")
    shares = [percentages([g.parts.get(part, 0.0) for g in groups]) for part in parts]
    for i, g in enumerate(shown):
        own = [column[i] if part in g.parts else NOTHING for part, column in zip(parts, shares, strict=True)]
        times = [f"{1e6 * g.median:.1f}", f"{1e6 * g.spread:.1f}"]
        table.rows.append([g.name, str(g.calls), *times, *own, spark(g.seconds), str(g.nbytes)])
    rows = [{"name": g.name, **_data(g), "shares": _shares(g, total)} for g in shown]
    last = (
        f"{len(shown)} of {count(len(groups), by)} · {1e6 * total.median:.1f} µs in {count(total.calls, 'op')} "
        f"(spread {1e6 * total.spread:.1f}) · {count(story.repeats, 'repeat')}"
    )
    data = {
        "model": about.file,
        "mode": about.mode,
        "by": by,
        "repeats": story.repeats,
        "device": device and {"name": device.device, "elapsed": device.elapsed, "shared": device.shared},
        "unrepeated": story.unrepeated,
        "total": _data(total),
        "groups": rows,
    }
    more = "line" if by != "line" else "op"
    next_ = [
        command_line("gradtool", "stats", "--time", *about.words, "--by", more),
        command_line("gradtool", "stats", "--time", *about.words, "--flame", "stacks.txt"),
    ]
    lines = [last] if device is None else [last, _device_note(device)]
    lines += [f"not looked at: repeats of what took its time once: {text}" for text in story.unrepeated]
    return View("profile", data, [table, *lines], next_, records="groups")


def _device_note(device: DeviceTime) -> str:
    """Return how that was measured."""
    elapsed, shared = statistics.median(device.elapsed), statistics.median(device.shared)
    return (
        f"time on {device.device}, of {1e6 * elapsed:.1f} µs from beginning to end; {1e6 * shared:.1f} µs took what "
        "several operators became, each with its share by the elements that it computes"
    )


def _shares(g: OperatorGroup, total: OperatorGroup) -> dict[str, float]:
    """Its part of the time of forward, and of that of backward."""
    return {part: seconds / total.parts[part] if total.parts[part] else 0.0 for part, seconds in g.parts.items()}


def _data(g: OperatorGroup) -> dict[str, Any]:
    return {"calls": g.calls, "bytes": g.nbytes, "median": g.median, "spread": g.spread, "seconds": g.seconds}
