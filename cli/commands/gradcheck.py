"""``gradtool gradcheck``: gradients compared with differences."""

from __future__ import annotations

from typing import Any

import click

from gradtool.models.errors import CommandError
from gradtool.models.wording import NOTHING, command_line, count, finite, number, shape

from ..context import Output, model_options, output_options
from ..errors import CLEAN, ENGINE, FAILED
from ..views import Report, Table


@click.command("gradcheck")
@model_options
@click.option(
    "--order", type=click.IntRange(1, 2), default=1, show_default=True, help="2: gradients of gradients, too."
)
@click.option("--feed", metavar="FILE.npz", help="Arrays to feed, by name.")
@output_options
def command(**options: Any) -> int:
    """Compare the gradients of MODEL's loss with differences of the loss, along random directions.

    \b
    gradtool gradcheck model.py --order 2

    The forward pass is computed again in double precision at other values of each parameter, branches and loops as they
    went; the file runs once. A parameter behind a kink (a relu at 0, two equal maxima, a condition about to change) is
    refused, and the operator named.

    Exit code 1: a gradient is wrong. 4: nothing is wrong, but something could not be checked.
    """
    out = Output.take(options)
    from gradtool.engine.answers import checking
    from gradtool.engine.core import watch
    from gradtool.engine.runs.recorder import Recorder
    from gradtool.models import loader, opening
    from gradtool.models.feeds import run
    from gradtool.models.loader import Request
    from gradtool.models.tape_model import TapeModel

    request = Request.take(options)
    recorder = Recorder()
    with recorder.recording(), loader.executed(request) as left, watch.unwatched():
        model = opening.model_in(left, request)
        order, seed = options["order"], request.seed
        if isinstance(model, TapeModel):
            left.must_run("gradcheck")
            if options["feed"]:
                raise CommandError(f"--feed works on static programs, and {model.name} works in dynamic mode")
            names = {e.tensor: e.shown for e in model.entries if e.tensor.is_leaf and not e.tensor.stop_gradient}
            entries = model.call(checking.of_loss, model.loss, recorder, names, order, seed)
        else:
            static: Any = model
            entries = checking.of_program(
                static.the_loss, lambda fetch: run(static, fetch, options["feed"], "numpy", seed, out), order, seed
            )
        mode = "eager" if isinstance(model, TapeModel) else "static"
        out.emit(_report(entries, model.name, mode, request.words()))
    states = {e.status for e in entries}
    return FAILED if "wrong" in states else CLEAN if states <= {"ok"} else ENGINE


def _report(entries: list[Any], name: str, mode: str, again: list[str]) -> Report:
    from gradtool.engine.core import source

    table = Table(
        ["parameter", "shape", "order", "status", "⟨g, u⟩", "difference", "error", "worst", "ratio", "cause", "source"],
        styles={"ok": "good", "wrong": "bad", "kink": "warn", "unchecked": "warn"},
    )
    rows = []
    for e in entries:
        checked = e.status in ("ok", "wrong")
        worst = NOTHING
        if e.index is not None:
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
                if e.index is None
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
    data = {"model": name, "mode": mode, "entries": rows, "passed": not wrong and not refused}
    next_ = [command_line("gradtool", "program", *again, "--pairs"), command_line("gradtool", "nan", *again)]
    return Report("gradcheck", data, [table, last], next_)
