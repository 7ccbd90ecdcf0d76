"""``gradtool gradients``: gradients of chosen targets by chosen inputs."""

from __future__ import annotations

from typing import Any

import click

from gradtool.models.errors import CommandError
from gradtool.models.wording import NOTHING, command_line, count, repeated, shape

from ..context import Output, model_options, output_options, run_options
from ..views import Report, Table


@click.command("gradients")
@model_options
@click.option("--target", "--targets", "target", multiple=True, metavar="SELECTOR", help="What to differentiate.")
@click.option("--input", "--inputs", "input_", multiple=True, metavar="SELECTOR", help="By what.")
@click.option(
    "--target-grad",
    "--target-grads",
    "target_grad",
    multiple=True,
    metavar="NAME",
    help="For each target in turn the tensor to start from, or 'ones'.",
)
@click.option("--no-grad", multiple=True, metavar="SELECTOR", help="Tensors that count as constants.")
@run_options
@output_options
def command(**options: Any) -> None:
    """Gradients of targets (by default the loss) by inputs (by default the parameters); None with its reason.

    \b
    gradtool gradients model.py --target h --input x
    gradtool gradients model.py --target y1,y2 --target-grad dy1,ones --input 'fc_*.w_0' --run
    """
    out = Output.take(options)
    from gradtool.engine.answers.why.of_program import explain
    from gradtool.engine.autodiff.gradients import gradients
    from gradtool.models import opening
    from gradtool.models.feeds import run, statistics
    from gradtool.models.loader import Request
    from gradtool.models.rows import Row, gradient_places, status
    from gradtool.models.selectors import Selectors

    request = Request.take(options, need_loss=not options["target"])
    with opening.program(request) as model:
        select = Selectors(model.program, model.named)
        targets = select.select("--target", options["target"], out) if options["target"] else [model.the_loss]
        inputs = (
            select.select("--input", options["input_"], out)
            if options["input_"]
            else list(model.program.all_parameters())
        )
        if not inputs:
            raise CommandError(f"{model.name} has no parameters", "say what to differentiate by: --input NAME")
        starts = _starts(select, options["target_grad"], len(targets), out)
        stopped = select.select("--no-grad", options["no_grad"], out)
        ops = model.program.global_block().ops
        reasons = explain(list(ops), targets, stopped)
        before = len(ops)
        found = gradients(targets, inputs, starts, stopped)
        places = gradient_places(model.program.global_block().ops)
        values: list[Any] = [None] * len(found)
        if options["run_"] or options["feed"]:
            present = [g for g in found if g is not None]
            arrays = iter(run(model, present, options["feed"], options["backend"], request.seed, out))
            values = [None if g is None else statistics(next(arrays)) for g in found]
        rows = []
        for v, g in zip(inputs, found, strict=True):
            text = "ok" if g is not None else status(reasons.of_variable(v)).replace("to the loss", "to the targets")
            rows.append(Row(v, g, places.get(g) if g is not None else None, text))
        added = len(model.program.global_block().ops) - before
        out.emit(_report(model, targets, rows, values, added, _again(request, options)))


def _again(request: Any, options: dict[str, Any]) -> list[str]:
    words = [*request.words(), *repeated("--target", options["target"]), *repeated("--input", options["input_"])]
    return [*words, *repeated("--target-grad", options["target_grad"]), *repeated("--no-grad", options["no_grad"])]


def _starts(select: Any, texts: tuple[str, ...], targets: int, out: Output) -> list[Any] | None:
    """The gradients to start from; None in it stands for ones."""
    if not texts:
        return None
    names = [n.strip() for text in texts for n in text.split(",")]
    if len(names) != targets:
        raise CommandError(
            f"--target-grad names {count(len(names), 'tensor')} for {count(targets, 'target')}",
            "one for each target in turn; 'ones' where there is nothing special",
        )
    found: list[Any] = []
    for name in names:
        if name in ("ones", "None", "-") and name not in select.variables:
            found.append(None)
            continue
        matched = select.select("--target-grad", [name], out)
        if len(matched) != 1:
            raise CommandError(f"--target-grad {name} matches {count(len(matched), 'tensor')}, not one")
        found.append(matched[0])
    return found


def _report(model: Any, targets: list[Any], rows: list[Any], values: list[Any], added: int, again: list[str]) -> Report:
    from gradtool.models.rows import STYLES, VALUE_HEADINGS

    ran = any(v is not None for v in values)
    named = ", ".join(f"{t.name} {shape(t.shape)}" for t in targets)
    head = f"gradients  {model.name} · static · {count(added, 'new op')} · of {named}"
    columns = VALUE_HEADINGS if ran else ()
    table = Table(["input", "shape", "gradient", "from op", *columns, "status", "source"], styles=STYLES)
    for row, found in zip(rows, values, strict=True):
        cells = [row.variable.name, shape(row.variable.shape), row.gradient.name if row.ok else "None"]
        cells += [row.op[1] if row.op else NOTHING, *(row.value_cells(found) if ran else [])]
        table.rows.append([*cells, row.status, row.source or NOTHING])
    last = f"{sum(r.ok for r in rows)} of {count(len(rows), 'input')} get{'s' if len(rows) == 1 else ''} a gradient"
    next_ = [] if ran else [command_line("gradtool", "gradients", *again, "--run")]
    next_.append(command_line("gradtool", "program", again[0], "--pairs"))
    data = {
        "model": model.name,
        "mode": "static",
        "targets": [t.name for t in targets],
        "inputs": [r.data(v) for r, v in zip(rows, values, strict=True)],
        "new_ops": added,
    }
    return Report("gradients", data, [head, table, last], next_)
