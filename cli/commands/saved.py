"""``gradtool saved``: what backward keeps alive."""

from __future__ import annotations

from typing import Any

import click

from ..context import Output, command_line, model_options, output_options
from ..errors import CommandError
from ..views import NOTHING, Report, Table, count, shape


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
    values that are kept anyway.
    """
    out = Output.take(options)
    from gradtool.engine import watch
    from gradtool.engine.answers import running
    from gradtool.engine.answers.events import Adapter
    from gradtool.engine.answers.saved import Keeper

    from .. import discovery, loader
    from ..eager_model import EagerModel
    from ..feeds import run
    from ..loader import Request
    from ..nan_report import Names

    request = Request.take(options)
    keeper = Keeper()
    passes = running.Passes(keeper)
    with watch.watched(Adapter(passes)), loader.executed(request) as left, watch.unwatched():
        model = discovery.model_in(left, request)
        if isinstance(model, EagerModel):
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
        mode = "eager" if isinstance(model, EagerModel) else "static"
        story = keeper.story()
        out.emit(_report(story, model.name, mode, Names.of(model), options, request.words()))


def _report(story: Any, name: str, mode: str, names: Any, options: dict[str, Any], again: list[str]) -> Report:
    from gradtool.engine import source

    from ..bars import spark

    def named(operation: Any) -> str:
        found = names.operators.get(operation.origin)
        fits = found is not None and found.rpartition(".")[0] == operation.type
        return str(found if fits else operation.type)

    chosen = [b for b in story.buffers if options["held"] or not b.held]
    shown = sorted(chosen, key=lambda b: (-b.nbytes, b.number))[: options["top"]] if options["top"] else chosen
    table = Table(["tensor", "bytes", "shape", "dtype", "made by", "read by", "alive", "notes", "source"])
    rows = []
    for b in shown:
        made = named(b.producer) if b.producer is not None else NOTHING
        readers = [named(r) for r in b.readers]
        notes = (
            [f"same contents as {_called(story, b.duplicate_of, names, named)}"] if b.duplicate_of is not None else []
        )
        notes += ["again"] if b.recompute else ["held anyway"] if b.held else []
        alive = f"{b.made}…{b.last}" if not b.held else NOTHING
        where = source.short(b.producer.loc) if b.producer is not None else ""
        tensor = _tensor(b, names, named)
        table.rows.append(
            [
                tensor,
                str(b.nbytes),
                shape(b.shape),
                b.dtype,
                made,
                ", ".join(readers),
                alive,
                ", ".join(notes) or NOTHING,
                where or NOTHING,
            ]
        )
        file, _, line = where.rpartition(":")
        rows.append(
            {
                "tensor": tensor,
                "number": b.number,
                "bytes": b.nbytes,
                "shape": list(b.shape),
                "dtype": b.dtype,
                "producer": made if b.producer is not None else None,
                "readers": readers,
                "made": b.made if not b.held else None,
                "last": b.last,
                "held_anyway": b.held,
                "duplicate_of": b.duplicate_of,
                "recomputable": b.recompute,
                "source": {"file": file, "line": int(line)} if file else None,
            }
        )
    freed, operators, share = story.recomputable
    peak = story.at_peak
    total = (
        f"{len(shown)} of {count(len(chosen), 'buffer')} · {story.total} bytes kept for backward · "
        f"{story.held} bytes that the program holds anyway · {story.duplicated} bytes twice"
    )
    lines = [
        total,
        f"peak {story.peak} bytes at {named(peak) if peak is not None else NOTHING}   {spark(story.timeline)}",
        f"computing {count(operators, 'operator')} again ({share} % of the forward work) would free {freed} bytes",
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


def _tensor(b: Any, names: Any, named: Any) -> str:
    if b.tensor is not None:
        shown: str = names.shown(b.tensor)
        return shown
    if b.producer is None:
        return str(b.slot)
    found = names.written.get(b.producer.origin, {}).get(b.slot)
    return found if found is not None and named(b.producer) != b.producer.type else f"{named(b.producer)}:{b.slot}"


def _called(story: Any, number: int, names: Any, named: Any) -> str:
    return _tensor(next(b for b in story.buffers if b.number == number), names, named)
