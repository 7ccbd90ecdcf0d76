"""``gradtool stats``: the health of gradients."""

from __future__ import annotations

import math
from typing import Any

import click

from gradtool.models.errors import CommandError
from gradtool.models.wording import NOTHING, command_line, count, finite, number, shape

from ..context import Output, model_options, output_options
from ..views import Report, Table


@click.command("stats")
@model_options
@click.option("--by", type=click.Choice(["parameter", "layer", "op"]), default="parameter", help="What a row is.")
@click.option("--worst", type=click.IntRange(1), metavar="N", help="Only the N rows to look at first.")
@click.option("--histogram", is_flag=True, help="Add how many elements are of each order of magnitude.")
@click.option("--feed", metavar="FILE.npz", help="Arrays to feed, by name.")
@output_options
def command(**options: Any) -> None:
    """Norms of MODEL's gradients, their ratio to the weights, zeros and numbers that are not finite.

    \b
    gradtool stats model.py --worst 10
    gradtool stats model.py --by layer --histogram
    """
    out = Output.take(options)
    from gradtool.models import opening
    from gradtool.models.loader import Request
    from gradtool.models.tape_model import TapeModel

    request = Request.take(options)
    with opening.opened(request) as model:
        if isinstance(model, TapeModel):
            if options["feed"]:
                raise CommandError(f"--feed works on static programs, and {model.name} works in dynamic mode")
            (story, names), mode = _eager(model), "eager"
        else:
            (story, names), mode = _static(model, options["feed"], request.seed, out), "static"
        lines = {"parameter": story.parameters, "layer": story.layers, "op": story.operators}[options["by"]]
        total = len(lines)
        if options["worst"]:
            lines = story.worst(options["worst"], lines)
        out.emit(report(story, names, lines, total, model.name, mode, options, request.words()))


def _eager(model: Any) -> Any:
    from gradtool.engine.answers import running, stats

    gatherer = stats.Gatherer()
    return of_tape(model, gatherer, model.call(running.through_tape, model.loss, gatherer))


def of_tape(model: Any, gatherer: Any, found: Any) -> Any:
    """The story of a model of dynamic mode, from the gradients *found* for its leaves, and the names in it."""
    from gradtool.engine.answers import stats
    from gradtool.models.run_names import Names

    leaves = [e for e in model.entries if e.tensor.is_leaf and not e.tensor.stop_gradient]
    shown = [e.shown for e in leaves]
    parameters = [
        stats.parameter(
            e.shown if shown.count(e.shown) == 1 else e.name,
            e.tensor.array,
            found.get(e.tensor.leaf),
            e.tensor.leaf,
            e.tensor.loc,
        )
        for e in leaves
    ]
    names = Names.of(model)
    return stats.story(parameters, gatherer, lambda line: names.operators.get(line.origin, line.name)), names


def _static(model: Any, feed: str | None, seed: int, out: Output) -> Any:
    from gradtool.engine.answers import running, stats
    from gradtool.models.feeds import run

    gatherer = stats.Gatherer()
    values: dict[Any, Any] = {}

    def once(fetch: Any) -> Any:
        return run(model, fetch, feed, "numpy", seed, out)

    pairs = dict(running.through_program(model.the_loss, gatherer, run=once, keep=values))
    return of_program(model, gatherer, pairs, values)


def of_program(model: Any, gatherer: Any, pairs: Any, values: Any) -> Any:
    """The story of a static program that was run, from the values of the gradients in *pairs*, and the names in it."""
    from gradtool.engine.answers import stats
    from gradtool.engine.executor.scope import global_scope
    from gradtool.models.run_names import Names

    held = global_scope().values
    parameters = []
    for p in model.program.all_parameters():
        gradient = pairs.get(p)
        if p.name in held:
            path = getattr(p, "layer_path", None) or p.name
            arrived = None if gradient is None else values[gradient]
            parameters.append(stats.parameter(path, held[p.name], arrived, p, p.made_at))
    names = Names.of(model)
    return stats.story(parameters, gatherer, lambda line: names.operators.get(line.origin, line.name)), names


def report(
    story: Any,
    names: Any,
    lines: list[Any],
    total: int,
    name: str,
    mode: str,
    options: dict[str, Any],
    again: list[str],
) -> Report:
    """The answer of ``gradtool stats``.

    Args:
        names: those of the model.
        lines: those of the *total* in the story that are shown.
        options: what the command's options ``by`` and ``histogram`` say.
        again: the words that load the same model.
    """
    from gradtool.engine.core import source
    from gradtool.viz.bars import histogram, log_bar

    by = options["by"]
    norms = [x.gradient.norm for x in lines if x.gradient is not None and x.gradient.norm > 0]
    low, high = min(norms, default=0.0), max(norms, default=0.0)
    headings = [by, "shape", "‖g‖", "log ‖g‖", "‖g‖/‖w‖", "max |g|", "zeros", "not finite", "verdict"]
    if by == "layer":
        headings[1] = "parameters"
    repeated = any(x.runs for x in lines)
    if repeated:
        headings.append("runs")
    if options["histogram"]:
        headings.append("sizes")
    styles = {
        "ok": "good",
        "not finite": "bad",
        "large": "bad",
        "vanishing": "bad",
        "all zero": "warn",
        "no gra": "dim",
    }
    table = Table([*headings, "source"], styles=styles)
    rows = []
    for x in lines:
        g = x.gradient
        extent = str(len(x.members)) if by == "layer" else shape(x.shape)
        cells = [x.name, extent]
        if g is None:
            cells += [NOTHING, "", NOTHING, NOTHING, NOTHING, NOTHING]
        else:
            share = f"{100 * g.zeros / g.elements:.3g} %" if g.elements else NOTHING
            cells += [number(g.norm), log_bar(g.norm, low, high), number(x.ratio), number(g.largest), share]
            cells.append(str(g.nonfinite))
        cells.append(x.verdict)
        if repeated:
            cells.append(_runs(x) if x.runs else NOTHING)
        if options["histogram"]:
            cells.append(histogram(g.decades) if g is not None and g.decades else NOTHING)
        where = source.short(x.loc)
        table.rows.append([*cells, where or NOTHING])
        rows.append(_row(x, where, names))
    wrong = [x for x in lines if x.verdict not in ("ok", "no gradient")]
    bad = f"{count(len(wrong), 'row')} to look at" if wrong else "nothing to look at"
    last = f"{len(lines)} of {count(total, by)} · {bad}"
    trend = story.trend
    told = [last]
    if trend is not None:
        per = trend.factor if trend.factor >= 1 else 1 / trend.factor
        told.append(
            f"{trend.kind} with depth: from {trend.last} back to {trend.first} norms "
            f"{'fall' if trend.kind == 'vanishing' else 'grow'} {number(per)}× per parameter"
        )
    data = {
        "model": name,
        "mode": mode,
        "by": by,
        "rows": rows,
        "total": total,
        "trend": None
        if trend is None
        else {"kind": trend.kind, "factor": trend.factor, "first": trend.first, "last": trend.last},
    }
    more = ["gradtool", "stats", *again, "--by", "op", "--worst", "10"]
    next_ = [command_line("gradtool", "nan", *again), command_line(*more)]
    return Report("stats", data, [table, "\n".join(told)], next_)


def _runs(x: Any) -> str:
    """How often an operator ran inside of branches and loops, and how its norm went from run to run."""
    from gradtool.viz.bars import course

    bars = course([math.nan if n.nonfinite else n.norm for _, n in x.runs])
    return f"{len(x.runs)} {bars}"


def _row(x: Any, where: str, names: Any) -> dict[str, Any]:
    from gradtool.models.run_names import runs_data

    g = x.gradient
    file, _, line = where.rpartition(":")
    return {
        "name": x.name,
        "shape": list(x.shape),
        "members": x.members,
        "weight_norm": None if x.weight is None else finite(x.weight),
        "ratio": None if x.ratio is None else finite(x.ratio),
        "verdict": x.verdict,
        "source": {"file": file, "line": int(line)} if file else None,
        "gradient": None if g is None else _numbers(g),
        "runs": [{"inside": runs_data(names.runs(inside)), **_numbers(n)} for inside, n in x.runs],
    }


def _numbers(g: Any) -> dict[str, Any]:
    return {
        "norm": finite(g.norm),
        "max_abs": finite(g.largest),
        "mean": finite(g.mean),
        "zeros": g.zeros,
        "nonfinite": g.nonfinite,
        "elements": g.elements,
        "decades": [[k, n] for k, n in g.decades.items()],
    }
