"""View of the operators that programs can hold."""

from __future__ import annotations

from typing import Any

from gradtool.engine.core.command_errors import unknown
from gradtool.engine.core.wording import NOTHING, count, plain
from gradtool.engine.ops import registry
from gradtool.engine.ops.opdef import OpDef

from .view import Table, View


def every() -> View:
    """All operators."""
    ops = list(registry.all_ops())
    table = Table(["type", "inputs", "outputs", "attributes", "gradient"], order=("attributes…", "inputs…", "outputs…"))
    for op in ops:
        attributes = ", ".join(op.defaults) or NOTHING
        table.rows.append([op.type, _slots(op.inputs), _slots(op.outputs), attributes, _gradient(op)])
    last = f"{count(len(ops), 'operator')} · X? may be empty, X* holds a list"
    return View("ops", {"operators": [_data(op) for op in ops]}, [table, last], ["gradtool explain TYPE"])


def names() -> list[str]:
    """The types of all operators."""
    return [op.type for op in registry.all_ops()]


def is_one(op_type: str) -> bool:
    """Return True where there is an operator of that type."""
    return registry.find(op_type) is not None


def one(op_type: str) -> View:
    """The operator of a type.

    Raises:
        CommandError: there is none.
    """
    op = registry.find(op_type)
    if op is None:
        raise unknown("operator", op_type, names())
    lines = [f"{op.type}({_slots(op.inputs)}) → {_slots(op.outputs)}", f"gradient  {_gradient(op)}"]
    if op.forward is not None:
        lines.append(f"gradient of  {op.forward.type}")
    blocks: list[str | Table] = ["\n".join(lines)]
    if op.doc:
        blocks.append("\n".join(f"  {line}".rstrip() for line in op.doc.splitlines()))
    if op.defaults:
        blocks.append(Table(["attribute", "default"], [[n, repr(plain(v))] for n, v in op.defaults.items()]))
    return View("op", {"operator": _data(op)}, blocks, [_next(op)])


def _next(op: OpDef) -> str:
    """Its gradient operator, where it has one of its own."""
    grad = op.grad_op
    if grad is None or op.rule is None or op.rule.expands:
        return "gradtool explain --ops"
    return f"gradtool explain {grad.type}"


def _slots(slots: Any) -> str:
    return ", ".join(s.name + "*" * s.many + "?" * s.optional for s in slots) or NOTHING


def _gradient(op: Any) -> str:
    if op.rule is None:
        return NOTHING
    if op.rule.expands:
        return "ordinary operators"
    return str(op.grad_op.type)


def _data(op: Any) -> dict[str, Any]:
    def slots(of: Any) -> list[dict[str, Any]]:
        return [{"name": s.name, "list": s.many, "optional": s.optional} for s in of]

    return {
        "type": op.type,
        "inputs": slots(op.inputs),
        "outputs": slots(op.outputs),
        "attributes": {n: plain(v) for n, v in op.defaults.items()},
        "gradient": None if op.rule is None or op.rule.expands else op.grad_op.type,
        "differentiable": op.rule is not None,
        "doc": op.doc,
    }
