"""Operators of higher order: what they hold is a graph."""

from __future__ import annotations

from typing import Any

from gradtool import paddle

from ....ir import default
from ..errors import Unsound
from ..node import Pt2Node, is_tensor, plain
from ..values import HeldTensor, as_number
from .rows import row


def _emit_graph(n: Pt2Node, graph: Any, operands: list[Any]) -> list[Any]:
    """Emit a graph in this place; give what its outputs are."""
    if len(operands) != len(graph["inputs"]):
        raise Unsound(f"a graph with {len(graph['inputs'])} inputs gets {len(operands)}")
    scope: dict[str, Any] = {}
    for told, value in zip(graph["inputs"], operands, strict=True):
        ((_, entry),) = told.items()
        scope[entry["name"] if "name" in entry else entry["as_name"]] = value
    n.builder.walk(graph, scope)
    return [n.builder.argument(told, scope) for told in graph["outputs"]]


def _settle(operands: list[Any]) -> None:
    """Compute what the operands are before the graph: views that are taken anew, sizes."""
    for value in operands:
        as_number(plain(value))


@row("higher_order.wrap_with_set_grad_enabled")
def _stop_gradients(n: Pt2Node) -> Any:
    """``torch.no_grad()`` in the module: gradients stop at what is computed inside."""
    enabled, graph, *operands = n.positional
    _settle(operands)
    block = default.current_block()
    before = len(block.ops)
    builder = n.builder
    outside, builder.blind = builder.blind, not enabled
    made = _emit_graph(n, graph, operands)
    builder.blind = outside
    if not enabled:
        for v in (v for op in block.ops[before:] for v in op.output_variables()):
            v.stop_gradient = v not in builder.passing
    return made


@row("higher_order.wrap_with_autocast")
def _autocast(n: Pt2Node) -> Any:
    """``torch.autocast`` in the module: the file says which types come out."""
    _, _, _, _, graph, *operands = n.positional
    return _emit_graph(n, graph, operands)


@row("higher_order.cond")
def _branch(n: Pt2Node) -> Any:
    condition, then, other, operands = n.positional
    value = plain(condition)
    if isinstance(value, bool):
        return _emit_graph(n, then if value else other, operands)
    value = value if is_tensor(value) else value.variable()
    _settle(operands)

    def branch(graph: Any) -> list[Any]:
        own = [HeldTensor(plain(v)) if isinstance(v, HeldTensor) else v for v in operands]
        return [_own(plain(v)) for v in _emit_graph(n, graph, own)]

    made = paddle.static.nn.cond(paddle.reshape(value, []), lambda: branch(then), lambda: branch(other))
    return tuple(made) if isinstance(made, (tuple, list)) else made


def _own(v: Any) -> Any:
    """A variable that is made in this block."""
    if not is_tensor(v):
        raise Unsound("a branch gives what is no tensor")
    return v if v.op is not None and v.block is default.current_block() else paddle.assign(v)
