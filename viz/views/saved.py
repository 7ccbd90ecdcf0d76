"""View of the forward values that backward keeps alive."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from itertools import chain
from typing import Any

from gradtool.engine.answers.why.folding import WHOLE, fold_names
from gradtool.engine.core import source
from gradtool.engine.core.vocabulary import title
from gradtool.engine.core.wording import NOTHING, command_line, count, shape, size
from gradtool.engine.kinds.names import line_of, runs_data
from gradtool.engine.questions.saved import Kept

from ...engine.core.identity import identity
from ..bars import spark
from .view import Table, View

LONG = 40
"""Rows from which on a list is folded: totals of layers first, then what is alike but for numbers together."""

_MOST_LAYERS = 24
"""Rows of totals; where a model has more layers, those that hold them are told."""

_TOGETHER = 2
"""Names in a row of several buffers that are not folded."""

_NUMBER = re.compile(r"\d+")

_ORDER = (
    "dtype",
    "alive",
    "read by…",
    "notes…",
    "made by",
    "source…",
    "tensor…",
    "layer…",
    "read by",
    "notes",
    "shape",
    "layer",
    "source",
)


def view(answer: Kept, top: int | None = None, held: bool = False) -> View:
    """The buffers that backward keeps alive.

    Args:
        top: only so many of the largest.
        held: also what the program holds anyway.
    """
    about, story, names = answer.about, answer.story, answer.names

    told: dict[int, str] = {}
    layers: dict[int, str] = {}

    def name_of(operation: Any) -> str:
        text = told.get(identity(operation))  # the story holds them
        if text is None:
            name = names.operators.get(operation.origin)
            fits = name is not None and name.rpartition(".")[0] == title(operation.type)
            text = told[identity(operation)] = str(name if fits else title(operation.type))
        return text

    def layer(b: Any) -> str:
        if b.producer is None:
            return ""
        text = layers.get(identity(b.producer))
        if text is None:
            text = layers[identity(b.producer)] = str(names.layer(b.producer.origin, b.producer.type))
        return text

    chosen = [b for b in story.buffers if held or not b.held]
    kinds = _largest(_runs_together(chosen), top)
    shown = [*chain.from_iterable(kinds)]
    by_number = {b.number: b for b in story.buffers}

    def rows(kinds: list[list[Any]]) -> Table:
        table = Table(["tensor", "bytes", "shape", "dtype", "made by", "read by", "alive", "notes", "layer", "source"])
        table.order = _ORDER
        table.rows = [_cells(kind, by_number, names, name_of, layer) for kind in kinds]
        if not any(map(layer, shown)):
            table = _drop_column(table, "layer")
        return table

    def contents() -> dict[str, Any]:
        return {
            "model": about.file,
            "mode": about.mode,
            "pass": answer.number,
            "buffers": [{**_data(b, names, name_of), "layer": layer(b) or None} for b in shown],
            "total": story.total,
            "held": story.held,
            "duplicated": story.duplicated,
            "derivatives": {"buffers": len(derived), "bytes": sum(b.nbytes for b in derived)},
            "peak": {"bytes": story.peak, "operator": peak},
            "timeline": [
                {"operator": name_of(o), "part": o.part, "bytes": n}
                for o, n in zip(story.operations, story.timeline, strict=True)
            ],
            "recompute": {"bytes": freed, "operators": operators, "forward_share_percent": share},
        }

    alike = _alike(kinds, layer) if len(kinds) > LONG and not top else kinds
    freed, operators, share = story.recomputable
    peak = name_of(story.peak_operation) if story.peak_operation is not None else None
    total = "" if answer.number is None else f"backward pass {answer.number} · "
    total += (
        f"{len(shown)} of {count(len(chosen), 'buffer')} · {size(story.total)} kept for backward · "
        f"{size(story.held)} that the program holds anyway"
    )
    lines = [
        total + (f" · {size(story.duplicated)} twice" if story.duplicated else ""),
        f"peak {size(story.peak)} at {peak or NOTHING}   {spark(story.timeline)}",
    ]
    derived = story.derived
    if derived:
        lines.append(
            f"{size(sum(b.nbytes for b in derived))} of it in {count(len(derived), 'buffer')} by derivatives that are "
            f"differentiated again ({about.vocabulary.gradient_of} with create_graph)"
        )
    if operators:
        again = f"computing {count(operators, 'operator')} again ({share} % of the forward work)"
        lines.append(f"{again} would free {size(freed)}")
    next_ = [
        command_line("gradtool", "graph", *about.words, "--pairs"),
        command_line("gradtool", "stats", "--time", *about.words),
    ]
    if len(alike) == len(kinds):
        return View("saved", contents, [rows(kinds), "\n".join(lines)], next_, records="buffers")
    lines.append(f"folded: {len(alike)} rows for {count(len(kinds), 'buffer')}; --top {len(kinds)} lists each of them")
    parts: list[str | Table] = [_totals(kinds, layer), "", rows(_largest(alike, len(alike))), "\n".join(lines)]
    return View("saved", contents, parts, next_, lambda: rows(kinds), records="buffers", in_blocks=True)


def _drop_column(table: Table, heading: str) -> Table:
    at = table.headings.index(heading)
    table.headings = [h for h in table.headings if h != heading]
    table.rows = [[*row[:at], *row[at + 1 :]] for row in table.rows]
    return table


def _alike(kinds: list[list[Any]], layer: Callable[[Any], str]) -> list[list[Any]]:
    """Rows together that one line makes in layers that differ in numbers only."""
    together: dict[Any, list[Any]] = {}
    layers: dict[str, str] = {}
    for kind in kinds:
        b = kind[0]
        key: Any = b.number
        if b.producer is not None and b.producer.loc and not b.producer.inside:
            code, line = b.producer.loc[0]
            name = layer(b)
            like = layers.get(name)
            if like is None:
                like = layers[name] = _NUMBER.sub("*", name)
            key = (b.producer.type, b.slot, b.shape, b.dtype, b.held, code.co_filename, line, like)
        together.setdefault(key, []).extend(kind)
    return [*together.values()]


def _totals(kinds: list[list[Any]], layer: Callable[[Any], str]) -> Table:
    """Return what each layer keeps, in the order of the run; of many layers those that hold them."""
    buffers = [*chain.from_iterable(kinds)]
    layers = [layer(b) for b in buffers]
    while len(set(layers)) > _MOST_LAYERS and any("." in name for name in layers):
        deepest = max(name.count(".") for name in layers)
        layers = [name.rpartition(".")[0] if name.count(".") == deepest else name for name in layers]
    kept: dict[str, list[Any]] = {}
    for name, b in zip(layers, buffers, strict=True):
        kept.setdefault(name, []).append(b)
    whole = sum(b.nbytes for b in buffers)
    table = Table(["layer", "buffers", "bytes", "share"])
    for name, held in kept.items():
        total = sum(b.nbytes for b in held)
        share = f"{100 * total / whole:.0f} %" if whole else NOTHING
        table.rows.append([name or NOTHING, str(len(held)), str(total), share])
    return table


def _runs_together(buffers: list[Any]) -> list[list[Any]]:
    """Return what the iterations of a loop make at one place together; every other buffer by itself."""
    kinds: dict[Any, list[Any]] = {}
    for b in buffers:
        made = b.producer
        key = (made.origin, b.slot, b.tensor, b.shape) if made is not None and made.inside else b.number
        kinds.setdefault(key, []).append(b)
    return [*kinds.values()]


def _largest(kinds: list[list[Any]], top: int | None) -> list[list[Any]]:
    if not top:
        return kinds
    return sorted(kinds, key=lambda kind: (-sum(b.nbytes for b in kind), kind[0].number))[:top]


def _cells(runs: list[Any], by_number: dict[int, Any], names: Any, named: Any, layer: Any) -> list[str]:
    """The row of one buffer, or of those that one operator makes in several runs, or one line in several layers."""
    b = runs[0]
    producer = b.producer
    several = len(runs) > 1

    def each(values: Iterable[str]) -> str:
        return fold_names([*dict.fromkeys(filter(None, values))], _TOGETHER if several else WHOLE) or NOTHING

    notes = _several_notes(runs) if several else _notes(b, by_number, names, named)
    notes += ["held anyway"] if b.held else []
    return [
        each(_tensor(x, names, named) for x in runs),
        str(sum(x.nbytes for x in runs)),
        (f"{len(runs)} of " if several else "") + shape(b.shape),
        b.dtype,
        each(named(x.producer) for x in runs if x.producer is not None),
        each(map(named, chain.from_iterable(x.readers for x in runs))),
        NOTHING if b.held else f"{min(x.made for x in runs)}…{max(x.last for x in runs)}",
        ", ".join(notes) or NOTHING,
        each(map(layer, runs)),
        _place(producer),
    ]


def _notes(b: Any, by_number: dict[int, Any], names: Any, named: Any) -> list[str]:
    """Of one buffer: what it was made inside of, what it is a copy of, whether it can be computed again."""
    notes = []
    if b.producer is not None and b.producer.inside:
        notes.append(names.describe_place(b.producer.inside))
    if b.duplicate_of is not None:
        notes.append(f"same as {_tensor(by_number[b.duplicate_of], names, named)}")
    if b.recompute:
        notes.append("again")
    return notes


def _several_notes(runs: list[Any]) -> list[str]:
    """Of the buffers of several runs or layers: how many there are, are copies and can be computed again."""
    copies = sum(b.duplicate_of is not None for b in runs)
    again = sum(bool(b.recompute) for b in runs)
    notes = [f"{len(runs)} runs"] if runs[0].producer is not None and runs[0].producer.inside else []
    if copies:
        notes.append(f"{copies} twice")
    if again:
        notes.append("again" if again == len(runs) else f"{again} again")
    return notes


def _place(producer: Any) -> str:
    return NOTHING if producer is None else source.short(producer.loc) or NOTHING


def _data(b: Any, names: Any, named: Any) -> dict[str, Any]:
    producer = b.producer
    return {
        "tensor": _tensor(b, names, named),
        "number": b.number,
        "bytes": b.nbytes,
        "shape": list(b.shape),
        "dtype": b.dtype,
        "producer": None if producer is None else named(producer),
        "readers": [named(r) for r in b.readers],
        "made": None if b.held else b.made,
        "last": b.last,
        "held_anyway": b.held,
        "duplicate_of": b.duplicate_of,
        "recomputable": b.recompute,
        "inside": [] if producer is None else runs_data(names.runs(producer.inside)),
        "source": None if producer is None else line_of(producer.loc),
    }


def _tensor(b: Any, names: Any, named: Any) -> str:
    if b.tensor is not None:
        return str(names.display(b.tensor))
    if b.producer is None:
        return str(b.slot)
    name = names.written.get(b.producer.origin, {}).get(b.slot)
    producer = named(b.producer)
    return name if name is not None and producer != title(b.producer.type) else f"{producer}:{b.slot}"
