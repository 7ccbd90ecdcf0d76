"""Verbs about memory: what backward keeps alive, and what the session itself holds."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from gradtool.engine.answers.events import Begin, End, OpEvent, SlotArray, step_event
from gradtool.engine.answers.saved import Keeper, SavedStory
from gradtool.engine.core import source
from gradtool.engine.executor.live import nbytes, root
from gradtool.engine.executor.plan import Step
from gradtool.engine.runs.timeline import NOBODY, Entry

from ....engine.core.identity import identity
from ...text import cells
from ..notebook import Notebook
from ..session import Session
from . import Reply, refuse_words, verb

_SHOWN = 12


@verb("saved", group="model", examples=("saved",), then="mem x")
def saved(book: Notebook, rest: str) -> Reply:
    """The forward values that backward keeps alive: bytes, who made them, who reads them."""
    refuse_words(rest, "saved")
    session = book.session
    story = _story(session)
    by_origin = {identity(e): e.name for e in session.timeline.entries}
    layers = {identity(e): e.layer for e in session.timeline.entries}
    rows = []
    for b in sorted(story.buffers, key=lambda b: (b.held, -b.nbytes, b.number)):
        maker = by_origin[identity(b.producer.origin)] if b.producer is not None else ""
        notes = [
            note
            for note, holds in (
                ("held anyway", b.held),
                ("can be computed again", b.recompute),
                ("contents of another", b.duplicate_of is not None),
            )
            if holds
        ]
        readers = ", ".join(by_origin[identity(r.origin)] for r in b.readers)
        where = source.short(b.producer.loc) if b.producer is not None else ""
        where += f"  {layers[identity(b.producer.origin)]}".rstrip() if b.producer is not None else ""
        rows.append((f"{b.nbytes} B", b.tensor or b.slot, maker, f"← {readers}", where, ", ".join(notes)))
    freed, operators, share = story.recomputable
    lines = _align_columns(rows[:_SHOWN])
    if len(rows) > _SHOWN:
        lines.append(f"  … {len(rows) - _SHOWN} more")
    lines.append(f"{story.total} B kept for backward alone · {story.held} B held anyway · peak {story.peak} B")
    if freed:
        plural = "s" * (operators != 1)
        lines.append(
            f"computing {operators} operator{plural} again ({share} % of the forward work) would free {freed} B"
        )
    return Reply("\n".join(lines), value=story)


def _story(session: Session) -> SavedStory:
    keeper = Keeper()
    begun = False
    failed = session.timeline.failed
    for entry in session.timeline.entries[: failed[0] if failed is not None else None]:
        if entry.backward and not begun:
            begun = True
            keeper(Begin())
        keeper(_event(session, entry))
    keeper(End())
    return keeper.story()


def _event(session: Session, entry: Entry) -> OpEvent:
    """An operator as it happened in this branch."""
    branch, values = session.branch, session.timeline.values
    outputs = [(slot, n, branch.make(n) if n >= 0 else None) for slot, n in entry.outs]
    if session.timeline.mode == "static":
        operands = tuple(branch.operands(entry))
        event = step_event(Step(entry.index, entry.origin, operands, tuple(a for _, _, a in outputs)))
        event.origin = entry
        return event
    read = [
        SlotArray(slot, branch.value(n, entry.index), values[n].name, None, values[n].maker == NOBODY)
        for slot, n in entry.reads
    ]
    wrote = [SlotArray(slot, a, values[n].name) for slot, n, a in outputs if a is not None]
    attrs = getattr(entry.origin, "attrs", {})
    return OpEvent(entry.type, entry.part, entry.loc, attrs, read, wrote, entry)


@verb("mem", group="model", examples=("mem",), then="saved")
def mem(book: Notebook, rest: str) -> Reply:
    """Show what the session holds: values of the run, branches, and how many operators ran again."""
    refuse_words(rest, "mem")
    session = book.session
    store = session.timeline.store
    entries = session.timeline.entries
    held = [array for _, array in store.items()]
    budget = "without limit" if store.budget is None else f"within {store.budget} B (--history)"
    rows = [("values of the run", f"{_bytes(held)} B", f"{len(held)} of {len(session.timeline.values)}, {budget}")]
    if store.dropped:
        rows.append(("released", f"{store.dropped}", "computed again on request"))
    for name, branch in session.branches.items():
        if branch.edits:
            arrays = [*branch.computed.values(), *(e.array for e in branch.edits if e.array is not None)]
            affected = len(branch.entries_after_edits())
            told = f"edits: {len(branch.edits)}; {affected} of {len(entries)} operators depend on them"
            rows.append((f"branch {name}", f"{_bytes(arrays)} B", told))
    again = sum(b.recomputed for b in session.branches.values())
    rows.append(("computed again", f"{again}", "operators in this session"))
    return Reply("\n".join(_align_columns(rows)))


def _bytes(arrays: Iterable[Any]) -> int:
    """Return the bytes of arrays, storage that they share counted once."""
    shared = {identity(r): r for r in (root(a) for a in arrays if hasattr(a, "dtype"))}
    return sum(nbytes(r) for r in shared.values())


def _align_columns(rows: Sequence[tuple[str, ...]]) -> list[str]:
    widths = [max(cells(row[i]) for row in rows) for i in range(len(rows[0]))] if rows else []
    return ["  ".join(t + " " * (w - cells(t)) for t, w in zip(row, widths, strict=True)).rstrip() for row in rows]
