"""From a static program to the neutral picture of its graph, in one pass over the operators."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain

import numpy as np

from ..core import names, source
from ..core.collector import paused_gc
from ..core.source import Location
from ..ir import roles
from ..ir.operator import Operator
from ..ir.program import Program
from ..ir.variable import Variable
from .graph import BACKWARD, FORWARD, OP, TENSOR, BlockView, EdgeView, GraphView, NodeView, Positions, op_names
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
        return _ProgramBuilder(program, loss, gradients).build(title)


class _ProgramBuilder:
    """Operators come first in a view, in the order of the program, then variables; so their positions are known."""

    def __init__(self, program: Program, loss: Variable | None, gradients: Mapping[Variable, Variable] | None) -> None:
        self.program = program
        self.loss = loss
        self.ops = ops = [*chain.from_iterable(block.ops for block in program.blocks)]
        self.variables = [*chain.from_iterable(block.vars.values() for block in program.blocks)]
        self.op_at = {op: i for i, op in enumerate(ops)}
        self.at = {v: i for i, v in enumerate(self.variables, len(ops))}
        self.ids = [*(f"op{i}" for i in range(len(ops))), *(f"v{i}" for i in range(len(self.variables)))]
        self.owners = {g: p for p, g in gradients.items()} if gradients is not None else dict(_noted(program, ops))
        self._divide()
        self.roles = {v: self._tensor_role(v) for v in self.variables}
        self.sources: dict[tuple[int, int] | None, str] = {}

    def _divide(self) -> None:
        """What is forward and what is backward, of operators and of what they write; and what is read at all."""
        self.is_forward = [roles.is_forward(op.role) or op.saves for op in self.ops]
        forward = [op for op, is_forward in zip(self.ops, self.is_forward, strict=True) if is_forward]
        backward = [op for op, is_forward in zip(self.ops, self.is_forward, strict=True) if not is_forward]
        written = {*chain.from_iterable(op.output_variables() for op in forward)}
        read = {*chain.from_iterable(op.input_variables() for op in forward)}
        self.backward = {*chain.from_iterable(op.output_variables() for op in backward)}
        self.written = written | self.backward
        self.read = read.union(*(op.input_variables() for op in backward))
        # An optimizer writes parameters, which the forward part read before.
        self.backward -= written
        self.backward -= {v for v in read if v.persistable}
        self.layers = layers_of(forward)

    def build(self, title: str) -> GraphView:
        op_name = op_names(self.ops)
        self.pairs: list[int] = []
        nodes = [self._operator(i, op, op_name[op]) for i, op in enumerate(self.ops)]
        nodes += [self._tensor(i, v) for i, v in enumerate(self.variables, len(self.ops))]
        edges, ends = self._edges()
        positions = Positions(np.array(self.pairs, dtype=np.int64), *np.array(ends, dtype=np.int64).reshape(-1, 3).T)
        return GraphView(title, tuple(nodes), tuple(edges), blocks=tuple(self._blocks(op_name)), known=positions)

    def _blocks(self, op_name: Mapping[Operator, str]) -> Iterator[BlockView]:
        for block in self.program.blocks[1:]:
            owner = op_name.get(block.owner, "nothing") if block.owner is not None else "nothing"
            yield BlockView(block.idx, block.parent_idx, owner)

    def _paired(self, at: int | None) -> str | None:
        """The id of a node's partner, whose position is noted."""
        self.pairs.append(-1 if at is None else at)
        return None if at is None else self.ids[at]

    def _source(self, where: Location) -> str:
        """``model.py:9``; most of a program is made in few places."""
        key = (id(where[0][0]), where[0][1]) if where else None
        text = self.sources.get(key)
        if text is None:
            text = self.sources[key] = source.short(where)
        return text

    def _operator(self, i: int, op: Operator, name: str) -> NodeView:
        return NodeView(
            self.ids[i],
            OP,
            name,
            op.type,
            _role(roles.FORWARD if op.saves else op.role),
            FORWARD if self.is_forward[i] else BACKWARD,
            pair=self._paired(None if op.origin is None else self.op_at.get(op.origin)),
            source=self._source(op.loc),
            scope=op.scope.strip("/") or self.layers.get(op.origin or op, ""),
            block=op.block.idx,
        )

    def _tensor(self, i: int, v: Variable) -> NodeView:
        part = BACKWARD if v in self.backward else FORWARD
        owner = self.owners.get(v)
        if owner is None and part == BACKWARD:
            owner = v.block._find_var_recursive(names.forward(v.name))
        return NodeView(
            self.ids[i],
            TENSOR,
            v.name,
            v.type,
            self.roles[v],
            part,
            v.shape,
            v.dtype.name,
            pair=self._paired(None if owner is None or owner is v else self.at.get(owner)),
            source=self._source(v.made_at),
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

    def _beside(self, slot: str, v: Variable) -> bool:
        """Whether a result is only there for a gradient operator, and there is none: it holds a shape and no values."""
        return slot == "XShape" and v not in self.read

    def _edges(self) -> tuple[list[EdgeView], list[tuple[int, int, int]]]:
        """The edges, and the positions of source, target and tensor of each."""
        ids, at, shown = self.ids, self.at, self._shown()
        writer: dict[Variable, int] = {}
        edges, ends = [], []
        for here, op in enumerate(self.ops):
            for slot, v, shape_only in reads(op):
                tensor = at[v]
                start = tensor if v in shown else writer.get(v, tensor)
                across = not self.is_forward[here] and self._is_forward(start, v)
                ends.append((start, here, tensor))
                edges.append(
                    EdgeView(ids[start], ids[here], ids[tensor], slot, across and not shape_only, across and shape_only)
                )
            for slot, v in writes(op):
                writer[v] = here
                if v in shown and not self._beside(slot, v):
                    tensor = at[v]
                    ends.append((here, tensor, tensor))
                    edges.append(EdgeView(ids[here], ids[tensor], ids[tensor], slot))
        return edges, ends

    def _shown(self) -> set[Variable]:
        """Tensors that are more than what one operator tells another: they stand in the picture themselves."""
        return {v for v in self.variables if self.roles[v] != "temporary"} | (self.written ^ self.read)

    def _is_forward(self, start: int, v: Variable) -> bool:
        """Whether what comes from there, from an operator or from the tensor itself, is a forward value."""
        return self.is_forward[start] if start < len(self.ops) else v not in self.backward


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


def path_of(variable: Variable) -> str:
    """Where a parameter stands in its model; empty where no Layer holds it."""
    return getattr(variable, "layer_path", None) or ""


def layer_of(op: Operator, path: Callable[[Variable], str] = path_of) -> str:
    """The layer whose parameter an operator reads, or the operator that it differentiates; empty where none is read.

    Args:
        path: what parameters are called; empty for what is none.
    """
    paths = map(path, (op.origin or op).input_variables())
    return next((p.rpartition(".")[0] for p in paths if "." in p), "")


def layers_of(forward: Sequence[Operator], path: Callable[[Variable], str] = path_of) -> dict[Operator, str]:
    """The layer that each operator of a forward part belongs to; empty where it is not known.

    Args:
        path: as for :func:`layer_of`.
    """
    return dict(zip(forward, filled([(layer_of(op, path), op.loc) for op in forward]), strict=True))


def _role(role: int) -> str:
    if role == roles.FORWARD | roles.LOSS:
        return "loss"
    if role == roles.BACKWARD | roles.LOSS:
        return "seed"
    if roles.is_backward(role):
        return "backward"
    return "forward" if role == roles.FORWARD else "optimize"
