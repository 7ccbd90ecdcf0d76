"""Branches and loops.

A loop whose rounds can be counted when the file is read becomes these rounds, one behind the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gradtool import paddle

from ..errors import Lacking, Malformed
from ..node import GraphName, OnnxNode
from .rows import row

MOST_ROUNDS = 4096


def _emit_graph(n: OnnxNode, graph: Any, operands: Sequence[GraphName]) -> list[GraphName]:
    """Emit a graph in this place; give what its outputs are.

    Args:
        operands: what its inputs are.
    """
    if len(operands) < len(graph.input):
        raise Malformed(f"a graph with {len(graph.input)} inputs gets {len(operands)}")
    env = n.builder.initializers(graph, n.env)
    env.update((value.name, entry) for value, entry in zip(graph.input, operands, strict=False))
    n.builder.walk(graph.node, env)
    made = []
    for value in graph.output:
        if value.name not in env:
            raise Malformed(f"the output {value.name!r} of a graph is made by no node")
        made.append(env[value.name])
    return made


@row("If", folds=False)
def _branch(n: OnnxNode) -> Any:
    then, other = n.graph("then_branch"), n.graph("else_branch")
    condition = n.array(0)
    if condition is not None and condition.size == 1:
        return tuple(_emit_graph(n, then if condition.item() else other, []))

    def variables(graph: Any) -> list[Any]:
        return [_own(n, entry) for entry in _emit_graph(n, graph, [])]

    made = paddle.static.nn.cond(paddle.reshape(n[0], []), lambda: variables(then), lambda: variables(other))
    return tuple(made) if isinstance(made, (tuple, list)) else made


def _own(n: OnnxNode, entry: GraphName) -> Any:
    """Return an entry as a value of this block."""
    value = n.builder.value(entry, False)
    return (
        value if value.op is not None and value.block is value.block.program.current_block() else paddle.assign(value)
    )


def _steady(graph: Any) -> bool:
    """Return whether a body goes on whenever it has begun: its condition is the one that it gets, or a constant."""
    makers = {name: node for node in graph.node for name in node.output}
    name, told = graph.output[0].name, graph.input[1].name if len(graph.input) > 1 else ""
    constants = {proto.name for proto in graph.initializer}
    for _ in range(len(graph.node) + 1):
        if name == told or name in constants:
            return True
        node = makers.get(name)
        if node is None:
            return False
        if node.op_type == "Constant":
            return True
        if node.op_type not in ("Identity", "Cast") or not node.input:
            return False
        name = node.input[0]
    return False


@row("Loop", folds=False)
def _loop(n: OnnxNode) -> Any:
    body = n.graph("body")
    rounds = n.array(0) if n.has(0) else None
    goes_on = n.array(1) if n.has(1) else np.asarray(True)
    if not body.output or len(body.input) < 2:
        raise Malformed("a loop without a condition")
    if rounds is not None and goes_on is not None and _steady(body):
        return _unroll(n, body, int(rounds.item()) if goes_on.all() else 0)
    return _while(n, body)


def _unroll(n: OnnxNode, body: Any, rounds: int) -> Any:
    """The rounds of a loop, one behind the other."""
    if rounds > MOST_ROUNDS:
        raise Lacking(f"{rounds} rounds of a loop, of which {MOST_ROUNDS} are read")
    state = [n.entry(i) for i in range(2, len(n))]
    goes_on = GraphName("", array=np.asarray(True))
    scanned: list[list[Any]] = [[] for _ in range(len(body.output) - 1 - len(state))]
    for i in range(rounds):
        made = _emit_graph(n, body, [GraphName("", array=np.asarray(i, "int64")), goes_on, *state])
        goes_on, state, rest = made[0], made[1 : 1 + len(state)], made[1 + len(state) :]
        for values, entry in zip(scanned, rest, strict=True):
            values.append(n.builder.value(entry, False))
        if goes_on.array is None:
            raise Lacking("a loop whose condition is computed, and whose results are put together")
        if not goes_on.array.all():
            break
    if not rounds and scanned:
        raise Lacking("a loop of no round, whose results are put together")
    return (*state, *(paddle.stack(values, axis=0) for values in scanned))


def _while(n: OnnxNode, body: Any) -> Any:
    """A loop whose rounds are counted when it runs; what each of them gives is collected in arrays."""
    count = len(n) - 2
    rest = len(body.output) - 1 - count
    if rest < 0:
        raise Malformed(f"a loop of {count} values whose body gives {len(body.output) - 1}")
    most = n[0] if n.has(0) else paddle.full([], 1 << 62, "int64")
    most = paddle.reshape(paddle.cast(most, "int64"), [])
    begin = paddle.reshape(n[1], []) if n.has(1) else paddle.full([], True, "bool")
    variables = [paddle.full([], 0, "int64"), paddle.assign(begin), *(paddle.assign(n[i]) for i in range(2, len(n)))]
    arrays = [paddle.tensor.create_array("float32") for _ in range(rest)]  # the body says of what they are

    def goes_on(i: Any, condition: Any, *state: Any) -> Any:
        return paddle.logical_and(paddle.less_than(i, most), condition)

    def once(i: Any, condition: Any, *state: Any) -> Any:
        made = _emit_graph(n, body, [GraphName("", i), GraphName("", condition), *(GraphName("", v) for v in state)])
        values = [_own(n, entry) for entry in made]
        for array, value in zip(arrays, values[1 + count :], strict=True):
            array.spec = value.spec
            paddle.tensor.array_write(value, paddle.reshape(i, [1]), array=array)
        return [i + 1, paddle.reshape(values[0], []), *values[1 : 1 + count]]

    state = paddle.static.nn.while_loop(goes_on, once, variables)[2:]
    return (*state, *(paddle.stack(array, axis=0) for array in arrays))


@row("Scan", since=9, folds=False)
def _scan(n: OnnxNode) -> Any:
    """Rounds along an axis of the operands."""
    body, count = n.graph("body"), n.whole("num_scan_inputs", 1)
    states = len(n) - count
    if states < 0 or count < 1 or len(body.output) < states:
        raise Malformed("its inputs do not fit its graph")
    axes = n.wholes("scan_input_axes", [0] * count)
    backwards = n.wholes("scan_input_directions", [0] * count)
    outputs = len(body.output) - states
    out_axes = n.wholes("scan_output_axes", [0] * outputs)
    out_backwards = n.wholes("scan_output_directions", [0] * outputs)
    operands = [n[states + j] for j in range(count)]
    lengths = {v.shape[a] for v, a in zip(operands, axes, strict=True)}
    rounds = lengths.pop()
    if lengths or rounds < 1:
        raise Lacking("rounds along a size that is not known")
    if rounds > MOST_ROUNDS:
        raise Lacking(f"{rounds} rounds of a scan, of which {MOST_ROUNDS} are read")
    parts = [
        paddle.unbind(v, axis=a) if rounds > 1 else [paddle.squeeze(v, axis=[a])]
        for v, a in zip(operands, axes, strict=True)
    ]
    state = [n.entry(i) for i in range(states)]
    scanned: list[list[Any]] = [[] for _ in range(outputs)]
    for i in range(rounds):
        now = [GraphName("", part[rounds - 1 - i if back else i]) for part, back in zip(parts, backwards, strict=True)]
        made = _emit_graph(n, body, [*state, *now])
        state = made[:states]
        for values, entry in zip(scanned, made[states:], strict=True):
            values.append(n.builder.value(entry, False))
    results = []
    for values, axis, back in zip(scanned, out_axes, out_backwards, strict=True):
        results.append(paddle.stack(values[::-1] if back else values, axis=axis))
    return (*state, *results)
