"""``gradtool backward``: the param-grad table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from gradtool.models.wording import NOTHING, command_line, count, number, repeated, shape

from ..context import Output, backward_options, model_options, output_options, run_options
from ..sizes import byte_size
from ..views import Report, Table


@click.command("backward")
@model_options
@backward_options
@click.option(
    "--callbacks", multiple=True, metavar="MOD:FN", help="Called as FN(block, context) for each new operator."
)
@click.option(
    "--checkpoints",
    multiple=True,
    metavar="SELECTOR|auto",
    help="Tensors that backward keeps; it computes the others before the last of them again.",
)
@click.option(
    "--memory-budget",
    metavar="BYTES",
    callback=byte_size,
    help="Choose checkpoints so that values and gradients fit (512M, 2G).",
)
@run_options
@click.option("--only-grads", is_flag=True, help="Exactly the list that append_backward returns.")
@click.option("--dot", metavar="FILE", help="Write the graph for Graphviz.")
@click.option("--part", type=click.Choice(["fwd", "bwd", "both"]), default="both", help="What --dot draws.")
@click.option("--dump", metavar="DIR", help="Write both graphs and the stack of every operator.")
@output_options
def command(**options: Any) -> None:
    """Append the backward part of MODEL's loss, and list every parameter with its gradient or the reason why not.

    \b
    gradtool backward model.py --no-grad my_fc.b_0
    gradtool backward model.py --params '*.w_0' --run
    gradtool backward model.py:build --arg n=3 --dot graph.dot
    gradtool backward model.py --checkpoints auto --memory-budget 64M

    In dynamic mode the loss is a Tensor, the rows are leaves, and norms are always there. Their source is the line that
    made them, or where that is not known the first one that used them.
    """
    out = Output.take(options)
    from gradtool.models import backward_part, opening, recomputing
    from gradtool.models.loader import Request
    from gradtool.models.tape_model import TapeModel

    params, no_grad, dump = options["params"], options["no_grad"], options["dump"]
    request = Request.take(options, full_stacks=dump is not None, journal=True)
    with opening.opened(request) as model:
        if isinstance(model, TapeModel):
            _eager(model, options, request, out)
            return
        checkpoints, budget = options["checkpoints"], options["memory_budget"]
        part = backward_part.append(
            model,
            params,
            no_grad,
            out,
            backward_part.callbacks(options["callbacks"], model),
            lambda stopped: recomputing.chosen(model, checkpoints, budget, stopped, options["feed"], out),
            budget,
        )
        if model.stripped:
            out.note(f"{model.name} made a backward part itself: {count(model.stripped, 'operator')} left out")
        known = None
        if options["run_"] or options["feed"]:
            known = _values(model, part, options, request.seed, out)
        again = [*request.words(), *repeated("--no-grad", no_grad), *repeated("--params", params)]
        kept = recomputing.options(checkpoints, budget)
        files = _pictures(model, part, options, [*again, *kept])
        if options["only_grads"]:
            _only_grads([[p.name, g.name] for p, g in part.pairs], out, files)
            return
        out.emit(report(model, part, known, again, kept), files)


def _values(model: Any, part: Any, options: dict[str, Any], seed: int, out: Output) -> tuple[float, list[Any]]:
    from gradtool.models.feeds import run

    fetch = fetched(model, part)
    return values(part, run(model, fetch, options["feed"], options["backend"], seed, out))


def fetched(model: Any, part: Any) -> list[Any]:
    """The variables that :func:`values` takes the arrays of."""
    return [model.the_loss, *(row.gradient for row in part.rows if row.gradient is not None)]


def values(part: Any, arrays: Sequence[Any]) -> tuple[float, list[Any]]:
    """The value of the loss, and statistics of the gradient of every row that has one."""
    from gradtool.models.feeds import statistics

    loss, *found = arrays
    rest = iter(found)
    return float(loss.reshape(())), [statistics(next(rest)) if row.gradient is not None else None for row in part.rows]


def _pictures(model: Any, part: Any, options: dict[str, Any], again: list[str]) -> dict[str, str]:
    """The files that ``--dot`` and ``--dump`` ask for."""
    files: dict[str, str] = {}
    if options["dot"] is None and options["dump"] is None:
        return files
    from gradtool.engine.view.from_program import view
    from gradtool.engine.view.graph import BACKWARD, BOTH, FORWARD

    graph = view(model.program, title=model.name, loss=model.loss, gradients=dict(part.pairs))
    if options["dot"] is not None:
        from gradtool.viz.mirror.layout import mirror
        from gradtool.viz.render import dot

        shown = {"fwd": FORWARD, "bwd": BACKWARD, "both": BOTH}[options["part"]]
        file = options["dot"].replace("\\", "/").rsplit("/", 1)[-1]
        made = command_line("gradtool", "backward", *again, "--dot", file)
        files[options["dot"]] = dot.render(mirror(graph.only(shown)), file=file, command=made)
    if options["dump"] is not None:
        from ..dumping import dump_files

        files |= dump_files(model, part, graph, options["dump"])
    return files


def _eager(model: Any, options: dict[str, Any], request: Any, out: Output) -> None:
    """The same for a model of dynamic mode, whose values are there already."""
    from gradtool.models.errors import CommandError

    from .. import eager_files, eager_table

    for option, given in (
        ("--callbacks", options["callbacks"]),
        ("--feed", options["feed"]),
        ("--backend", options["backend"] != "numpy"),
        ("--checkpoints", options["checkpoints"]),
        ("--memory-budget", options["memory_budget"] is not None),
    ):
        if given:
            raise CommandError(f"{option} works on static programs, and {model.name} works in dynamic mode")
    part = eager_table.run(model, options["params"], options["no_grad"], out)
    again = [
        *request.words(),
        *repeated("--no-grad", options["no_grad"]),
        *repeated("--params", options["params"]),
    ]
    files: dict[str, str] = {}
    if options["dot"] is not None:
        files[options["dot"]] = eager_files.dot_text(part.graph, options["dot"], options["part"], again)
    if options["dump"] is not None:
        files |= eager_files.dump_files(part.graph, model.name, options["dump"])
    if options["only_grads"]:
        _only_grads(part.pairs, out, files)
    else:
        out.emit(eager_table.report(part, request.words()), files)


def _only_grads(pairs: list[list[str]], out: Output, files: dict[str, str]) -> None:
    if out.format == "json":
        from ..views import to_json

        out.text(to_json({"pairs": pairs}, "only-grads"), files)
    elif out.format == "tsv":
        out.text("".join(f"{p}\t{g}\n" for p, g in pairs), files)
    else:
        out.text(f"[{', '.join(f'({p}, {g})' for p, g in pairs)}]\n", files)


def report(model: Any, part: Any, values: tuple[float, list[Any]] | None, again: list[str], kept: list[str]) -> Report:
    """The answer of ``gradtool backward`` for a static program.

    Args:
        values: the value of the loss, and statistics of the gradient of every row, if the program was run.
        again: the words that load the same model.
        kept: those that choose its checkpoints.
    """
    from gradtool.models.backward_part import summary

    loss = model.the_loss
    statistics = values[1] if values is not None else [None] * len(part.rows)
    head = (
        f"program  {model.name} · static · {count(part.forward, 'forward op')} → "
        f"{count(part.backward, 'backward op')} · loss {loss.name} {list(loss.shape)} {loss.dtype.name}"
    )
    if values is not None:
        head += f" = {number(values[0])}"
    pairs = command_line("gradtool", "program", *again, "--pairs")
    cut = next((r.variable.name for r in part.rows if not r.ok), None)
    next_ = [] if cut is None else [command_line("gradtool", "why", cut, *again)]
    if values is None:
        next_ += [command_line("gradtool", "backward", *again, *kept, "--run"), pairs]
    else:
        next_ += [pairs, command_line("gradtool", "dump", *again, "graphs")]
    data = {
        "model": model.name,
        "mode": "static",
        "loss": {"name": loss.name, "shape": list(loss.shape), "dtype": loss.dtype.name, "value": _loss_value(values)},
        "operators": {"forward": part.forward, "backward": part.backward, "left_out": model.stripped},
        "parameters": [_json_row(r, s) for r, s in zip(part.rows, statistics, strict=True)],
        "pairs": [[p.name, g.name] for p, g in part.pairs],
        "no_grad": [v.name for v in part.no_grad],
        "params": None if part.params is None else [v.name for v in part.params],
        "removed_by_no_grad": part.removed,
        "recomputed": None if part.recomputed is None else part.recomputed.data(),
    }
    heads = [head] if part.recomputed is None else [head, part.recomputed.line()]
    return Report("backward", data, [*heads, _table(part, values), summary(part)], next_)


def _loss_value(values: tuple[float, list[Any]] | None) -> float | None:
    from gradtool.models.wording import finite

    return None if values is None else finite(values[0])


def _table(part: Any, values: tuple[float, list[Any]] | None) -> Table:
    from gradtool.models.rows import STYLES, VALUE_HEADINGS

    paths = any(getattr(r.variable, "layer_path", None) for r in part.rows)
    headings = ["parameter", *(["tensor"] if paths else []), "shape", "gradient", "from op"]
    headings += VALUE_HEADINGS if values is not None else []
    table = Table([*headings, "status", "source"], styles=STYLES)
    for i, row in enumerate(part.rows):
        v = row.variable
        path = getattr(v, "layer_path", None)
        cells = [path or v.name, *([v.name] if paths else []), shape(v.shape)]
        cells += [row.gradient.name if row.gradient is not None else NOTHING, row.op[1] if row.op else NOTHING]
        cells += row.value_cells(values[1][i]) if values is not None else []
        table.rows.append([*cells, row.status, row.source or NOTHING])
    return table


def _json_row(row: Any, found: dict[str, Any] | None) -> dict[str, Any]:
    v = row.variable
    return {
        **row.data(found),
        "layer_path": getattr(v, "layer_path", None),
        "is_parameter": v.is_parameter,
        "trainable": getattr(v, "trainable", None),
        "returned": row.ok,
    }
