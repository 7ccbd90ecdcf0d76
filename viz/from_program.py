"""From a static program to the neutral picture of its graph, in one pass over the operators."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from gradtool.engine import names, source
from gradtool.engine.collector import paused_gc
from gradtool.engine.ir import roles
from gradtool.engine.ir.operator import Operator
from gradtool.engine.ir.program import Program
from gradtool.engine.ir.variable import Variable
from gradtool.engine.view import BACKWARD, FORWARD, OP, TENSOR, BlockView, EdgeView, GraphView, NodeView, op_names

from .scopes import filled


def view(
    program: Program,
    *,
    title: str = "",
    loss: Variable | None = None,
    gradients: Mapping[Variable, Variable] | None = None,
) -> GraphView:
    """The graph of a program.

    Args:
        title: what the picture is of, such as the model's file name.
        loss: shown as a node of its own.
        gradients: variable -> gradient, for those that were asked for; shown as nodes. By default what
            ``append_backward`` noted in the operators.

    Returns:
        All operators and variables of all blocks. Ids count in the order of the program: the same program gives the
        same ids.
    """
    with paused_gc():
        return _Builder(program, loss, gradients).build(title)


class _Builder:
    def __init__(self, program: Program, loss: Variable | None, gradients: Mapping[Variable, Variable] | None) -> None:
        self.program = program
        self.loss = loss
        self.ops = [op for block in program.blocks for op in block.ops]
        self.variables = [v for block in program.blocks for v in block.vars.values()]
        forward = [op for op in self.ops if _part(op) == FORWARD]
        self.layers = dict(zip(forward, filled([(layer_of(op), op.loc) for op in forward]), strict=True))
        self.op_ids = {op: f"op{i}" for i, op in enumerate(self.ops)}
        self.ids = {v: f"v{i}" for i, v in enumerate(self.variables)}
        self.owners = {g: p for p, g in gradients.items()} if gradients is not None else dict(_noted(program, self.ops))
        self.written = {v for op in self.ops for v in op.output_variables()}
        self.read = {v for op in self.ops for v in op.input_variables()}
        self.backward = {v for op in self.ops if _part(op) == BACKWARD for v in op.output_variables()}
        self.backward -= {v for op in forward for v in op.output_variables()}
        # An optimizer writes parameters, which the forward part read before.
        self.backward -= {v for op in forward for v in op.input_variables() if v.persistable}

    def build(self, title: str) -> GraphView:
        op_name = op_names(self.ops)
        nodes = [self._operator(op, op_name[op]) for op in self.ops]
        nodes += [self._tensor(v) for v in self.variables]
        return GraphView(title, tuple(nodes), tuple(self._edges()), blocks=tuple(self._blocks(op_name)))

    def _blocks(self, op_name: Mapping[Operator, str]) -> Iterator[BlockView]:
        for block in self.program.blocks[1:]:
            owner = op_name.get(block.owner, "nothing") if block.owner is not None else "nothing"
            yield BlockView(block.idx, block.parent_idx, owner)

    def _operator(self, op: Operator, name: str) -> NodeView:
        return NodeView(
            self.op_ids[op],
            OP,
            name,
            op.type,
            _role(op),
            _part(op),
            pair=self.op_ids.get(op.origin) if op.origin is not None else None,
            source=source.short(op.loc),
            scope=op.scope.strip("/") or self.layers.get(op.origin or op, ""),
            block=op.block.idx,
        )

    def _tensor(self, v: Variable) -> NodeView:
        part = BACKWARD if v in self.backward else FORWARD
        owner = self.owners.get(v)
        if owner is None and part == BACKWARD:
            owner = v.block._find_var_recursive(names.forward(v.name))
        return NodeView(
            self.ids[v],
            TENSOR,
            v.name,
            v.type,
            self._tensor_role(v),
            part,
            v.shape,
            v.dtype.name,
            pair=self.ids.get(owner) if owner is not None and owner is not v else None,
            source=source.short(v.made_at),
            block=v.block.idx,
        )

    def _tensor_role(self, v: Variable) -> str:
        if v in self.owners:
            return "gradient"
        if v is self.loss:
            return "loss"
        if v.is_parameter:
            return "parameter"
        if v.is_data:
            return "data"
        return "state" if v.persistable else "temporary"

    def _shown(self, v: Variable) -> bool:
        """Whether a tensor stands in the picture itself, not only as an edge."""
        return v not in self.written or v not in self.read or self._tensor_role(v) != "temporary"

    def _beside(self, slot: str, v: Variable) -> bool:
        """Whether a result is only there for a gradient operator, and there is none: it holds a shape and no values."""
        return slot == "XShape" and v not in self.read

    def _edges(self) -> Iterator[EdgeView]:
        writer: dict[Variable, Operator] = {}
        for op in self.ops:
            here, backward = self.op_ids[op], _part(op) == BACKWARD
            for slot, v, shape_only in reads(op):
                made = writer.get(v)
                from_tensor = made is None or self._shown(v)
                start = self.ids[v] if from_tensor else self.op_ids[made]  # type: ignore[index]
                forward = v not in self.backward if from_tensor else _part(made) == FORWARD  # type: ignore[arg-type]
                across = backward and forward
                yield EdgeView(start, here, self.ids[v], slot, across and not shape_only, across and shape_only)
            for slot, v in writes(op):
                writer[v] = op
                if self._shown(v) and not self._beside(slot, v):
                    yield EdgeView(here, self.ids[v], self.ids[v], slot)


def _noted(program: Program, ops: list[Operator]) -> Iterator[tuple[Variable, Variable]]:
    """Gradient and parameter, as ``append_backward`` wrote them into ``op_role_var``."""
    block = program.global_block()
    for op in ops:
        if not roles.is_backward(op.role):
            continue
        for p, g in zip(op.role_var[::2], op.role_var[1::2], strict=True):
            if p in block.vars and g in block.vars:
                yield block.vars[g], block.vars[p]


def reads(op: Operator) -> Iterator[tuple[str, Variable, bool]]:
    """Slot, variable, and whether its shape alone is read, for everything that an operator reads."""
    forward = op.op.forward
    rule = forward.rule if forward is not None and not op.op.holds_blocks else None
    for i, (slot, value) in enumerate(zip(op.op.inputs, op.inputs, strict=False)):
        like = rule is not None and rule.reads[i].like
        for v in value if isinstance(value, tuple) else (value,):
            if v is not None:
                yield slot.name, v, like


def writes(op: Operator) -> Iterator[tuple[str, Variable]]:
    """Slot and variable, for everything that an operator writes."""
    for slot, value in zip(op.op.outputs, op.outputs, strict=False):
        for v in value if isinstance(value, tuple) else (value,):
            if v is not None:
                yield slot.name, v


def layer_of(op: Operator) -> str:
    """The layer whose parameter an operator reads, or the operator that it differentiates; empty where none is read."""
    for v in (op.origin or op).input_variables():
        path = getattr(v, "layer_path", None)
        if path and "." in path:
            return str(path).rpartition(".")[0]
    return ""


def _part(op: Operator) -> str:
    return FORWARD if roles.is_forward(op.role) else BACKWARD


def _role(op: Operator) -> str:
    role = op.role
    if role == roles.FORWARD | roles.LOSS:
        return "loss"
    if role == roles.BACKWARD | roles.LOSS:
        return "seed"
    if roles.is_backward(role):
        return "backward"
    return "forward" if role == roles.FORWARD else "optimize"
