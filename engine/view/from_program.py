"""From a static program to the neutral picture of its graph, in one pass over the operators."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import chain, compress
from operator import not_
from typing import Any

import numpy as np

from ..core import names, source
from ..core.collector import pause_gc
from ..core.identity import identity
from ..core.source import Location
from ..ir import roles
from ..ir.operator import Operator, each
from ..ir.program import Program
from ..ir.variable import Variable
from ..ops.opdef import OpDef
from .graph import BACKWARD, FORWARD, OP, TENSOR, BlockView, EdgeView, GraphView, NodeView, Positions, op_names
from .scopes import fill_layers


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
    with pause_gc():
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
        self.owners = (
            {g: p for p, g in gradients.items()} if gradients is not None else dict(_gradient_pairs(program, ops))
        )
        self._divide()
        self.roles = {v: self._tensor_role(v) for v in self.variables}
        self.sources: dict[tuple[int, int] | None, str] = {}

    def _divide(self) -> None:
        """Divide operators and what they write into forward and backward, and find what is read at all."""
        self.is_forward = [roles.is_forward(op.role) or op.saves for op in self.ops]
        forward = [*compress(self.ops, self.is_forward)]
        read, written = _read_and_written(forward)
        read_by_backward, self.backward = _read_and_written(compress(self.ops, map(not_, self.is_forward)))
        self.written = written | self.backward
        self.read = read | read_by_backward
        # An optimizer writes parameters, which the forward part read before.
        self.backward -= written
        self.backward -= {v for v in read if v.persistable}
        self.layers = layers_of(forward)

    def build(self, title: str) -> GraphView:
        op_name = op_names(self.ops)
        self.pairs: list[int] = []
        nodes = self._operators(op_name)
        nodes += self._tensors()
        edges, ends = self._edges()
        positions = Positions(np.array(self.pairs, dtype=np.int64), *np.array(ends, dtype=np.int64).reshape(-1, 3).T)
        return GraphView(title, tuple(nodes), tuple(edges), blocks=tuple(self._blocks(op_name)), known=positions)

    def _blocks(self, op_name: Mapping[Operator, str]) -> Iterator[BlockView]:
        for block in self.program.blocks[1:]:
            owner = op_name.get(block.owner, "nothing") if block.owner is not None else "nothing"
            yield BlockView(block.idx, block.parent_idx, owner)

    def _partner(self, at: int | None) -> str | None:
        """The id of a node's partner, whose position is noted."""
        self.pairs.append(-1 if at is None else at)
        return None if at is None else self.ids[at]

    def _source(self, where: Location) -> str:
        """``model.py:9``; most of a program is made in few places."""
        key = (identity(where[0][0]), where[0][1]) if where else None
        text = self.sources.get(key)
        if text is None:
            text = self.sources[key] = source.short(where)
        return text

    def _operators(self, op_name: Mapping[Operator, str]) -> list[NodeView]:
        nodes, layers = [], self.layers
        for i, op in enumerate(self.ops):
            definition, origin = op.op, op.origin
            is_forward, role = self.is_forward[i], op.role
            nodes.append(
                NodeView(
                    self.ids[i],
                    OP,
                    op_name[op],
                    definition.type,
                    # Among the forward operators one of the backward part saves what it needs.
                    _role(roles.FORWARD if is_forward and roles.is_backward(role) else role) if role else "forward",
                    FORWARD if is_forward else BACKWARD,
                    None,
                    None,
                    self._partner(None if origin is None else self.op_at.get(origin)),
                    self._source(op.loc),
                    (op.scope.strip("/") if op.scope != "/" else "") or layers.get(origin or op, ""),
                    op.block.idx,
                )
            )
        return nodes

    def _tensors(self) -> list[NodeView]:
        nodes, backward, owners, at = [], self.backward, self.owners, self.at
        for i, v in enumerate(self.variables, len(self.ops)):
            is_backward = v in backward
            owner = owners.get(v)
            if owner is None and is_backward:
                name = names.forward(v.name)
                owner = v.block.vars.get(name) or v.block._find_var_recursive(name)
            spec = v.spec
            nodes.append(
                NodeView(
                    self.ids[i],
                    TENSOR,
                    v.name,
                    v.kind,
                    self.roles[v],
                    BACKWARD if is_backward else FORWARD,
                    spec.shape,
                    spec.dtype.name,
                    self._partner(None if owner is None or owner is v else at.get(owner)),
                    self._source(v.made_at),
                    "",
                    v.block.idx,
                )
            )
        return nodes

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

    def _is_unused_result(self, slot: str, v: Variable) -> bool:
        """Return whether a result is only there for a gradient operator, and there is none: it holds a shape and no
        values.
        """
        return slot == "XShape" and v not in self.read

    def _edges(self) -> tuple[list[EdgeView], list[int]]:
        """The edges, and the positions of source, target and tensor of each in a row."""
        ids, at, shown = self.ids, self.at, self._tensors_in_picture()
        writer: dict[Variable, int] = {}
        edges: list[EdgeView] = []
        ends: list[int] = []
        for here, (op, is_forward) in enumerate(zip(self.ops, self.is_forward, strict=True)):
            name = ids[here]
            for slot, v, shape_only in reads(op):
                tensor = at[v]
                start = tensor if v in shown else writer.get(v, tensor)
                across = not is_forward and self._is_forward(start, v)
                ends += (start, here, tensor)
                edges.append(
                    EdgeView(
                        ids[start], name, ids[tensor], slot, across and not shape_only, across and shape_only, 1, ""
                    )
                )
            for slot, v in writes(op):
                writer[v] = here
                if v in shown and not self._is_unused_result(slot, v):
                    tensor = at[v]
                    ends += (here, tensor, tensor)
                    edges.append(EdgeView(name, ids[tensor], ids[tensor], slot))
        return edges, ends

    def _tensors_in_picture(self) -> set[Variable]:
        """Tensors that are more than what one operator tells another: they stand in the picture themselves."""
        return {v for v in self.variables if self.roles[v] != "temporary"} | (self.written ^ self.read)

    def _is_forward(self, start: int, v: Variable) -> bool:
        """Return whether what comes from there, from an operator or from the tensor itself, is a forward value."""
        return self.is_forward[start] if start < len(self.ops) else v not in self.backward


def _read_and_written(ops: Iterable[Operator]) -> tuple[set[Variable], set[Variable]]:
    """All that *ops* read, and all that they write."""
    read: set[Any] = set()
    written: set[Any] = set()
    for op in ops:
        lists = op.op.has_lists
        read.update(each(op.inputs) if lists else op.inputs)
        written.update(each(op.outputs) if lists else op.outputs)
    return read - {None}, written - {None}


def _gradient_pairs(program: Program, ops: list[Operator]) -> Iterator[tuple[Variable, Variable]]:
    """Gradient and parameter, as ``append_backward`` wrote them into ``op_role_var``."""
    block = program.global_block()
    for op in ops:
        if not roles.is_backward(op.role):
            continue
        for p, g in zip(op.role_var[::2], op.role_var[1::2], strict=True):
            if p in block.vars and g in block.vars:
                yield block.vars[g], block.vars[p]


def reads(op: Operator) -> list[tuple[str, Variable, bool]]:
    """Slot, variable, and whether its shape alone is read, for everything that an operator reads."""
    entries: list[tuple[str, Variable, bool]] = []
    for value, (slot, like) in zip(op.inputs, _slots(op.op), strict=False):
        if isinstance(value, tuple):
            entries += [(slot, v, like) for v in value if v is not None]
        elif value is not None:
            entries.append((slot, value, like))
    return entries


@cache
def _slots(op: OpDef) -> list[tuple[str, bool]]:
    """The input slots of an operator, and whether it reads the shape alone of what is there."""
    rule = op.forward.rule if op.forward is not None and not op.holds_blocks else None
    return [(slot.name, rule is not None and rule.reads[i].like) for i, slot in enumerate(op.inputs)]


def writes(op: Operator) -> list[tuple[str, Variable]]:
    """Slot and variable, for everything that an operator writes."""
    entries: list[tuple[str, Variable]] = []
    for slot, value in zip(op.op.outputs, op.outputs, strict=False):
        if isinstance(value, tuple):
            entries += [(slot.name, v) for v in value if v is not None]
        elif value is not None:
            entries.append((slot.name, value))
    return entries


def path_of(variable: Variable) -> str:
    """Return where a parameter stands in its model; empty where no Layer holds it."""
    return getattr(variable, "layer_path", None) or ""


def layer_of(op: Operator, path: Callable[[Variable], str] = path_of) -> str:
    """The layer whose parameter an operator reads, or the operator that it differentiates; empty where none is read.

    Args:
        path: what parameters are called; empty for what is none.
    """
    for value in (op.origin or op).inputs:
        for v in value if isinstance(value, tuple) else (value,):
            name = "" if v is None else path(v)
            if "." in name:
                return name.rpartition(".")[0]
    return ""


def layers_of(forward: Sequence[Operator], path: Callable[[Variable], str] = path_of) -> dict[Operator, str]:
    """The layer that each operator of a forward part belongs to; empty where it is not known.

    Args:
        path: as for :func:`layer_of`.
    """
    return dict(zip(forward, fill_layers([(layer_of(op, path), op.loc) for op in forward]), strict=True))


def _role(role: int) -> str:
    if role == roles.FORWARD | roles.LOSS:
        return "loss"
    if role == roles.BACKWARD | roles.LOSS:
        return "seed"
    if roles.is_backward(role):
        return "backward"
    return "forward" if role == roles.FORWARD else "optimize"
