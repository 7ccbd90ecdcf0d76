"""``gradtool saved``: what backward keeps alive."""

from __future__ import annotations

from typing import Any

import click

from gradtool.models.errors import CommandError
from gradtool.models.wording import NOTHING, command_line, count, shape

from ..context import Output, model_options, output_options
from ..views import Report, Table


@click.command("saved")
@model_options
@click.option("--top", type=click.IntRange(1), metavar="N", help="Only the N largest buffers.")
@click.option("--held", is_flag=True, help="Also what the program holds anyway: parameters, fed data, leaves.")
@click.option("--feed", metavar="FILE.npz", help="Arrays to feed, by name.")
@output_options
def command(**options: Any) -> None:
    """The forward values that MODEL's backward pass keeps alive: bytes, producer, readers, lifetime.

    \b
    gradtool saved model.py --top 10

    A buffer counts once, whatever the number of its readers and views. "again" marks what could be computed again from
    values that are kept anyway, "twice" and "same as" what has the contents of an earlier buffer. What a loop of a
    program keeps of its iterations is one row; JSON has them one by one.
    """
    out = Output.take(options)
    from gradtool.engine.answers import running
    from gradtool.engine.answers.events import Adapter
    from gradtool.engine.answers.saved import Keeper
    from gradtool.engine.core import watch
    from gradtool.models import loader, opening
    from gradtool.models.feeds import run
    from gradtool.models.loader import Request
    from gradtool.models.run_names import Names
    from gradtool.models.tape_model import TapeModel

    request = Request.take(options)
    keeper = Keeper()
    passes = running.Passes(keeper)
    with watch.watched(Adapter(passes)), loader.executed(request) as left, watch.unwatched():
        model = opening.model_in(left, request)
        if isinstance(model, TapeModel):
            left.must_run("saved")
            if options["feed"]:
                raise CommandError(f"--feed works on static programs, and {model.name} works in dynamic mode")
            if not passes.count:
                model.call(running.through_tape, model.loss, keeper)
        else:
            static: Any = model
            keeper = Keeper()
            running.through_program(
                static.the_loss,
                keeper,
                run=lambda fetch: run(static, fetch, options["feed"], "numpy", request.seed, out),
            )
        mode = "eager" if isinstance(model, TapeModel) else "static"
        story = keeper.story()
        out.emit(_report(story, model.name, mode, Names.of(model), options, request.words()))


def _report(story: Any, name: str, mode: str, names: Any, options: dict[str, Any], again: list[str]) -> Report:
    from gradtool.models.wording import size
    from gradtool.viz.bars import spark

    def named(operation: Any) -> str:
        found = names.operators.get(operation.origin)
        fits = found is not None and found.rpartition(".")[0] == operation.type
        return str(found if fits else operation.type)

    chosen = [b for b in story.buffers if options["held"] or not b.held]
    kinds = _folded(chosen)
    if options["top"]:
        kinds = sorted(kinds, key=lambda found: (-sum(b.nbytes for b in found), found[0].number))[: options["top"]]
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
        "model": name,
        "mode": mode,
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
    next_ = [command_line("gradtool", "program", *again, "--pairs"), command_line("gradtool", "profile", *again)]
    return Report("saved", data, [table, "\n".join(lines)], next_)


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
    from gradtool.engine.core import source

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
    from gradtool.engine.core import source
    from gradtool.models.run_names import runs_data

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
