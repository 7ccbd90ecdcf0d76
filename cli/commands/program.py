"""``gradtool program``: the program as text, or forward operators beside their gradient operators."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import click

from gradtool.models.wording import NOTHING, command_line, count, plain, repeated

from ..context import Output, backward_options, model_options, output_options
from ..views import Report, Table


@click.command("program")
@model_options
@backward_options
@click.option("--part", type=click.Choice(["fwd", "bwd", "both"]), default="both", help="Which operators.")
@click.option("--pairs", is_flag=True, help="A forward operator and its gradient operator on one row.")
@click.option("--source", "source_", is_flag=True, help="Which line made each operator.")
@click.option("--blocks", is_flag=True, help="All blocks, not block 0 alone.")
@output_options
def command(**options: Any) -> None:
    """Print MODEL's program, with the backward part of its loss; in dynamic mode the recorded tape behind the loss.

    \b
    gradtool program model.py --part bwd --source
    gradtool program model.py --pairs
    """
    out = Output.take(options)
    from gradtool.models import backward_part, opening
    from gradtool.models.loader import Request
    from gradtool.models.tape_model import TapeModel

    request = Request.take(options, need_loss=False)
    with opening.opened(request) as model:
        if isinstance(model, TapeModel):
            out.emit(_eager(model, options, request.words(), out.format))
            return
        if model.loss is not None and options["part"] != "fwd":
            backward_part.append(model, options["params"], options["no_grad"], out)
        elif options["part"] != "fwd":
            out.note(f"{model.name} has no one loss: the forward part alone (--loss NAME names it)")
        again = [*request.words(), *repeated("--no-grad", options["no_grad"])]
        again += repeated("--params", options["params"])
        shown = _Shown(model, options["part"], options["blocks"])
        out.emit(_pairs(shown, again) if options["pairs"] else _text(shown, options["source_"], again, out.format))


def _eager(model: Any, options: dict[str, Any], again: list[str], form: str) -> Report:
    """The recorded graph of a model of dynamic mode."""
    from gradtool.models.tape_model import recorded

    from ..eager_files import refuse_selectors
    from ..tape_program import TapeText

    refuse_selectors(options)
    shown = TapeText(model, recorded(model), options["part"])
    return shown.pairs(again) if options["pairs"] else shown.listing(options["source_"], again, form)


class _Shown:
    """The operators of a program that are shown, with their names."""

    def __init__(self, model: Any, part: str, every_block: bool) -> None:
        from gradtool.engine.ir import roles
        from gradtool.engine.view.graph import op_names

        self.model = model
        self.blocks = model.program.blocks if every_block else model.program.blocks[:1]
        self.part = part
        self.names = op_names(op for block in model.program.blocks for op in block.ops)
        self.ids = {op: f"op{i}" for i, op in enumerate(self.names)}
        self.is_forward = roles.is_forward

    def ops(self, block: Any) -> list[Any]:
        if self.part == "both":
            return list(block.ops)
        return [op for op in block.ops if self.is_forward(op.role) == (self.part == "fwd")]

    def variables(self, block: Any, ops: Iterable[Any]) -> list[Any]:
        """The variables of *block* to list: of a part of the program those that it uses."""
        if self.part == "both":
            return list(block.vars.values())
        used = {v for op in ops for v in (*op.input_variables(), *op.output_variables())}
        return [v for v in block.vars.values() if v in used]


def _text(shown: _Shown, with_source: bool, again: list[str], form: str) -> Report:
    from gradtool.engine.core import source
    from gradtool.engine.ir import text

    blocks: list[str | Table] = []
    entries = []
    table = Table(["id", "op", "inputs", "outputs", "role", "source"])
    for block in shown.blocks:
        ops = shown.ops(block)
        variables = shown.variables(block, ops)
        lines = [text.block_line(block)]
        lines += [f"    {text.variable_text(v)}" for v in variables]
        lines.append("")
        for op in ops:
            made = source.short(op.loc)
            lines.append(f"    {text.operator_text(op)}" + (f"  // {made}" if with_source and made else ""))
            table.rows.append(
                [
                    shown.ids[op],
                    shown.names[op],
                    ", ".join(v.name for v in op.input_variables()) or NOTHING,
                    ", ".join(v.name for v in op.output_variables()) or NOTHING,
                    "forward" if shown.is_forward(op.role) else "backward",
                    made or NOTHING,
                ]
            )
        blocks.append("\n".join([*lines, "}"]))
        entries.append(_block_data(shown, block, variables, ops))
    data = {"model": shown.model.name, "part": shown.part, "blocks": entries}
    next_ = [command_line("gradtool", "program", *again, "--pairs")]
    return Report("program", data, [table] if form in ("tsv", "markdown") else blocks, next_)


def _block_data(shown: _Shown, block: Any, variables: Iterable[Any], ops: Iterable[Any]) -> dict[str, Any]:
    from gradtool.engine.core import source

    return {
        "index": block.idx,
        "parent": block.parent_idx,
        "variables": [
            {
                "name": v.name,
                "shape": list(v.shape),
                "dtype": v.dtype.name,
                "is_parameter": v.is_parameter,
                "is_data": v.is_data,
                "persistable": v.persistable,
                "stop_gradient": v.stop_gradient,
            }
            for v in variables
        ],
        "operators": [
            {
                "id": shown.ids[op],
                "name": shown.names[op],
                "type": op.type,
                "inputs": {s: op.input(s) for s in op.input_names},
                "outputs": {s: op.output(s) for s in op.output_names},
                "attributes": {n: plain(v) for n, v in op.attrs.items()},
                "role": op.role,
                "gradient_of": shown.ids.get(op.origin) if op.origin is not None else None,
                "source": source.short(op.loc) or None,
            }
            for op in ops
        ],
    }


# -- pairs ------------------------------------------------------------------------------------------------------------


def _pairs(shown: _Shown, again: list[str]) -> Report:
    from gradtool.engine.core import source

    table = Table(["forward", "saved", "", "backward", "source"])
    entries = []
    for forward, backwards in _paired(shown):
        for i, backward in enumerate(backwards or [None]):
            saved = _saved(backward) if backward is not None else []
            loc = (forward or backward).loc
            table.rows.append(
                [
                    _call(forward) if forward is not None and i == 0 else "",
                    ", ".join(saved) or NOTHING,
                    "↔" if forward is not None and backward is not None else "",
                    _call(backward) if backward is not None else NOTHING,
                    source.short(loc) or NOTHING,
                ]
            )
        entries.append(
            {
                "forward": shown.names[forward] if forward is not None else None,
                "backward": [{"name": shown.names[b], "saved": _saved(b)} for b in backwards],
                "source": source.short((forward or backwards[0]).loc) or None,
            }
        )
    paired = sum(1 for e in entries if e["forward"] and e["backward"])
    total = sum(1 for e in entries if e["forward"])
    last = f"{paired} of {count(total, 'forward op')} {'has' if paired == 1 else 'have'} a gradient op"
    data = {"model": shown.model.name, "pairs": entries}
    return Report("pairs", data, [table, last], [command_line("gradtool", "program", *again, "--source")])


def _paired(shown: _Shown) -> Iterator[tuple[Any, list[Any]]]:
    """Forward operators with their gradient operators; then backward operators that belong to none."""
    ops = [op for block in shown.blocks for op in block.ops]
    by_origin: dict[Any, list[Any]] = {}
    for op in ops:
        if op.origin is not None:
            by_origin.setdefault(op.origin, []).append(op)
    for op in ops:
        if shown.is_forward(op.role):
            yield op, by_origin.get(op, [])
        elif op.origin is None or not shown.is_forward(op.origin.role):
            yield None, [op]


def _saved(op: Any) -> list[str]:
    """The forward values that a gradient operator keeps alive, each once."""
    from gradtool.engine.view.from_program import reads

    if op.origin is None:
        return []
    forward = {*op.origin.input_variables(), *op.origin.output_variables()}
    return list(dict.fromkeys(v.name for _, v, like in reads(op) if v in forward and not like))


def _call(op: Any) -> str:
    """``y float32[?, 8], z … = split(x)``; of a gradient operator the arriving gradients first, then ``;``."""
    outputs = ", ".join(v.name for v in op.output_variables())
    written = next(op.output_variables(), None)
    spec = "" if written is None or op.origin is not None else f" {_spec(written)}"
    inputs = [v.name for v in op.input_variables()]
    if op.origin is not None:
        forward = {*op.origin.input_variables(), *op.origin.output_variables()}
        arriving = [v.name for v in op.input_variables() if v not in forward]
        kept = list(dict.fromkeys(v.name for v in op.input_variables() if v in forward))
        arguments = "; ".join(t for t in (", ".join(arriving), ", ".join(kept)) if t)
    else:
        arguments = ", ".join(inputs)
    return f"{outputs}{spec} = {op.type}({arguments})" if outputs else f"{op.type}({arguments})"


def _spec(v: Any) -> str:
    dims = ", ".join("?" if d < 0 else str(d) for d in v.shape)
    return f"{v.dtype.name}[{dims}]"
