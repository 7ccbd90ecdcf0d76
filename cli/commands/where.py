"""``gradtool where``: where an operator comes from, and what it reads and makes."""

from __future__ import annotations

from typing import Any

import click

from gradtool.engine.core import source
from gradtool.models.wording import NOTHING, command_line, count, repeated

from ..context import Output, backward_options, model_options, output_options
from ..views import Report, Table

_WHOLE = 6
"""Operators that are shown with all that is known; of more than that there is a table."""


@click.command("where")
@click.argument("what")
@model_options
@backward_options
@output_options
def command(**options: Any) -> None:
    """Source, stack, pair, inputs and outputs of the operators that WHAT names in MODEL.

    WHAT is an operator (relu.0, matmul_v2_grad.1), a type (relu), a tensor, or a line (line:model.py:21).

    \b
    gradtool where mul_grad.0 model.py
    gradtool where line:model.py:9 model.py
    gradtool where my_fc.w_0@GRAD model.py
    """
    out = Output.take(options)
    from gradtool.models import opening
    from gradtool.models.loader import Request

    request = Request.take(options, full_stacks=True, need_loss=False, journal=True)
    with opening.opened(request) as model:
        found = _spots(model, options, out).find(options["what"])
        again = [*request.words(), *repeated("--no-grad", options["no_grad"])]
        out.emit(_report(model.name, options["what"], found, [*again, *repeated("--params", options["params"])]))


def _spots(model: Any, options: dict[str, Any], out: Output) -> Any:
    from gradtool.models import backward_part, spots
    from gradtool.models.tape_model import TapeModel

    if isinstance(model, TapeModel):
        from gradtool.engine.view import from_tape

        from ..eager_files import refuse_selectors

        refuse_selectors(options)
        roots = [] if model.loss.stop_gradient else [model.loss]  # what left no record is in the journal
        graph = from_tape.graph(roots, title=model.name, named=model.named)
        assert model.journal is not None
        aliases = {n: _drawn(graph, e) for e in model.entries for n in e.names if not e.tensor.stop_gradient}
        return spots.of_tape(graph, model.journal, model.loss, aliases)
    from gradtool.engine.view.from_program import view

    pairs = {}
    if model.loss is not None:
        pairs = dict(backward_part.append(model, options["params"], options["no_grad"], out).pairs)
    return spots.of_program(model.program, view(model.program, loss=model.loss, gradients=pairs), model.named)


def _drawn(graph: Any, entry: Any) -> str:
    """What the picture calls a named tensor."""
    place = entry.tensor.on_tape()
    by_id = graph.view.by_id()
    return str(next((by_id[i].name for i, p in graph.places.items() if p == place), entry.name))


def _report(model: str, what: str, found: list[Any], words: list[str]) -> Report:
    data = {"model": model, "asked": what, "operators": [s.data() for s in found]}
    table = Table(["op", "part", "pair", "layer", "source", "code"])
    for s in found:
        code = source.text(*s.location[0]) if s.location else ""
        table.rows.append([s.name, s.part, s.pair or NOTHING, s.layer or NOTHING, source.short(s.location), code])
    next_ = [command_line("gradtool", "program", *words, "--pairs")]
    if len(found) > _WHOLE:
        return Report("where", data, [count(len(found), "operator"), table], next_, table)
    lines: list[str] = []
    shown = None
    for s in found:
        lines += [
            f"{s.name}   {s.part}"
            + (f"   ↔ {s.pair}" if s.pair else "")
            + (f"   in {s.layer}" if s.layer else "")
            + (f"   inside {' · '.join(s.inside)}" if s.inside else "")
        ]
        if s.location != shown:
            lines += [f"  {line}" for line in s.excerpt]
            if len(s.location) > 1:
                lines += ["  called by", *(f"    {line.strip()}" for line in s.stack[:-2])]
        shown = s.location
        for side, operands in (("reads", s.inputs), ("makes", s.outputs)):
            for o in operands:
                lines.append(f"  {side}  {o.slot:<8} {o.tensor}  {o.spec}" + (f"  {o.note}" if o.note else ""))
        lines.append("")
    return Report("where", data, ["\n".join(lines[:-1])], next_, table)
