"""``gradtool ops``: the operators."""

from __future__ import annotations

from typing import Any

import click

from gradtool.models.errors import unknown
from gradtool.models.wording import NOTHING, count, plain

from ..context import Output, output_options
from ..views import Report, Table


@click.command("ops")
@click.argument("type_", metavar="[TYPE]", required=False)
@output_options
def command(type_: str | None, **options: Any) -> None:
    """List the operators that programs can hold, or explain the one of TYPE (gradient operators too)."""
    out = Output.take(options)
    from gradtool.engine.ops import registry

    if type_ is None:
        found = list(registry.all_ops())
        table = Table(["type", "inputs", "outputs", "attributes", "gradient"])
        for o in found:
            attributes = ", ".join(o.defaults) or NOTHING
            table.rows.append([o.type, _slots(o.inputs), _slots(o.outputs), attributes, _gradient(o)])
        legend = "X? may be empty, X* holds a list"
        data = {"operators": [_data(o) for o in found]}
        out.emit(Report("ops", data, [table, f"{count(len(found), 'operator')} · {legend}"], ["gradtool ops TYPE"]))
        return
    op = registry.find(type_)
    if op is None:
        raise unknown("operator", type_, [o.type for o in registry.all_ops()])
    table = Table(["attribute", "default"], [[n, repr(plain(v))] for n, v in op.defaults.items()])
    lines = [f"{op.type}({_slots(op.inputs)}) → {_slots(op.outputs)}", f"gradient  {_gradient(op)}"]
    if op.forward is not None:
        lines.append(f"gradient of  {op.forward.type}")
    blocks: list[str | Table] = ["\n".join(lines)]
    if op.doc:
        blocks.append("\n".join(f"  {line}".rstrip() for line in op.doc.splitlines()))
    if table.rows:
        blocks.append(table)
    grad = op.grad_op
    shown = grad is not None and op.rule is not None and not op.rule.expands
    next_ = f"gradtool ops {grad.type}" if grad is not None and shown else "gradtool ops"
    out.emit(Report("op", {"operator": _data(op)}, blocks, [next_]))


def _slots(slots: Any) -> str:
    return ", ".join(s.name + "*" * s.many + "?" * s.optional for s in slots) or NOTHING


def _gradient(op: Any) -> str:
    if op.rule is None:
        return NOTHING
    if op.rule.expands:
        return "ordinary operators"
    return str(op.grad_op.type)


def _data(op: Any) -> dict[str, Any]:
    def slots(given: Any) -> list[dict[str, Any]]:
        return [{"name": s.name, "list": s.many, "optional": s.optional} for s in given]

    return {
        "type": op.type,
        "inputs": slots(op.inputs),
        "outputs": slots(op.outputs),
        "attributes": {n: plain(v) for n, v in op.defaults.items()},
        "gradient": None if op.rule is None or op.rule.expands else op.grad_op.type,
        "differentiable": op.rule is not None,
        "doc": op.doc,
    }
