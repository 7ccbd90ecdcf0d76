"""What is shown of the forward values that backward keeps alive."""

from __future__ import annotations

from typing import Any

from gradtool.engine.core import source
from gradtool.models.names import runs_data
from gradtool.models.questions.saved import Kept
from gradtool.models.wording import NOTHING, command_line, count, shape, size

from ..bars import spark
from .view import Table, View


def view(answer: Kept, top: int | None = None, held: bool = False) -> View:
    """The buffers that backward keeps alive.

    Args:
        top: only so many of the largest.
        held: also what the program holds anyway.
    """
    about, story, names = answer.about, answer.story, answer.names

    def named(operation: Any) -> str:
        found = names.operators.get(operation.origin)
        fits = found is not None and found.rpartition(".")[0] == operation.type
        return str(found if fits else operation.type)

    chosen = [b for b in story.buffers if held or not b.held]
    kinds = _folded(chosen)
    if top:
        kinds = sorted(kinds, key=lambda found: (-sum(b.nbytes for b in found), found[0].number))[:top]
    shown = [b for found in kinds for b in found]
    by_number = {b.number: b for b in story.buffers}
    table = Table(["tensor", "bytes", "shape", "dtype", "made by", "read by", "alive", "notes", "source"])
    for found in kinds:
        table.rows.append(_cells(found, by_number, names, named))
    rows = [_data(b, names, named) for b in shown]
    freed, operators, share = story.recomputable
    peak = story.at_peak
    total = (
        f"{len(shown)} of {count(len(chosen), 'buffer')} · {size(story.total)} kept for backward · "
        f"{size(story.held)} that the program holds anyway · {size(story.duplicated)} twice"
    )
    lines = [
        total,
        f"peak {size(story.peak)} at {named(peak) if peak is not None else NOTHING}   {spark(story.timeline)}",
        f"computing {count(operators, 'operator')} again ({share} % of the forward work) would free {size(freed)}",
    ]
    data = {
        "model": about.name,
        "mode": about.mode,
        "buffers": rows,
        "total": story.total,
        "held": story.held,
        "duplicated": story.duplicated,
        "peak": {"bytes": story.peak, "operator": named(peak) if peak is not None else None},
        "timeline": [
            {"operator": named(o), "part": o.part, "bytes": n}
            for o, n in zip(story.operations, story.timeline, strict=True)
        ],
        "recompute": {"bytes": freed, "operators": operators, "forward_share_percent": share},
    }
    next_ = [
        command_line("gradtool", "program", *about.words, "--pairs"),
        command_line("gradtool", "profile", *about.words),
    ]
    return View("saved", data, [table, "\n".join(lines)], next_)


def _folded(buffers: list[Any]) -> list[list[Any]]:
    """What the iterations of a loop make at one place together; every other buffer by itself."""
    kinds: dict[Any, list[Any]] = {}
    for b in buffers:
        made = b.producer
        key = (made.origin, b.slot, b.tensor, b.shape) if made is not None and made.inside else b.number
        kinds.setdefault(key, []).append(b)
    return [*kinds.values()]


def _cells(found: list[Any], by_number: dict[int, Any], names: Any, named: Any) -> list[str]:
    """The row of one buffer, or of those that one operator makes in several runs."""
    b = found[0]
    notes = []
    if len(found) > 1:
        notes.append(f"{len(found)} runs")
    elif b.producer is not None and b.producer.inside:
        notes.append(names.within(b.producer.inside))
    copies = [x for x in found if x.duplicate_of is not None]
    if len(found) == 1 and copies:
        notes.append(f"same as {_tensor(by_number[b.duplicate_of], names, named)}")
    elif copies:
        notes.append(f"{len(copies)} twice")
    again = [x for x in found if x.recompute]
    if again:
        notes.append("again" if len(again) == len(found) else f"{len(again)} again")
    notes += ["held anyway"] if b.held else []
    where = source.short(b.producer.loc) if b.producer is not None else ""
    return [
        _tensor(b, names, named),
        str(sum(x.nbytes for x in found)),
        (f"{len(found)} of " if len(found) > 1 else "") + shape(b.shape),
        b.dtype,
        named(b.producer) if b.producer is not None else NOTHING,
        ", ".join(dict.fromkeys(named(r) for x in found for r in x.readers)),
        f"{min(x.made for x in found)}…{max(x.last for x in found)}" if not b.held else NOTHING,
        ", ".join(notes) or NOTHING,
        where or NOTHING,
    ]


def _data(b: Any, names: Any, named: Any) -> dict[str, Any]:
    where = source.short(b.producer.loc) if b.producer is not None else ""
    file, _, line = where.rpartition(":")
    return {
        "tensor": _tensor(b, names, named),
        "number": b.number,
        "bytes": b.nbytes,
        "shape": list(b.shape),
        "dtype": b.dtype,
        "producer": named(b.producer) if b.producer is not None else None,
        "readers": [named(r) for r in b.readers],
        "made": b.made if not b.held else None,
        "last": b.last,
        "held_anyway": b.held,
        "duplicate_of": b.duplicate_of,
        "recomputable": b.recompute,
        "inside": runs_data(names.runs(b.producer.inside)) if b.producer is not None else [],
        "source": {"file": file, "line": int(line)} if file else None,
    }


def _tensor(b: Any, names: Any, named: Any) -> str:
    if b.tensor is not None:
        shown: str = names.shown(b.tensor)
        return shown
    if b.producer is None:
        return str(b.slot)
    found = names.written.get(b.producer.origin, {}).get(b.slot)
    return found if found is not None and named(b.producer) != b.producer.type else f"{named(b.producer)}:{b.slot}"
