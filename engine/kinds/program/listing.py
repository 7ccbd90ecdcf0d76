"""The operators of a program, with the backward part of its loss."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from ...core import source
from ...core.notes import Notes
from ...core.wording import plain
from ...ir import roles, text
from ...ir.operator import Operator
from ...ir.program import Block
from ...ir.variable import Variable
from ...request.options import BackwardOptions, Cuts
from ...view.from_program import reads
from ...view.graph import op_names
from ..listing import ListedBlock, ListedOperator, Listing, Pair, PairedOperator
from .model import ProgramModel


def list_operators(model: ProgramModel, part: str, blocks: bool, cuts: Cuts, notes: Notes) -> Listing:
    """The operators of block 0, or of all *blocks*."""
    if model.loss is not None and part != "fwd":
        model.differentiate(BackwardOptions(params=cuts.params, no_grad=cuts.no_grad), notes)
    elif part != "fwd":
        notes.note(f"{model.name} has no one loss: the forward part alone (--loss NAME names it)")
    shown = _Shown(model, part, blocks)
    listed = [shown.block(block) for block in shown.blocks]
    return Listing(model.about, part, listed, shown.pairs, [*model.words, *cuts.words])


class _Shown:
    """The operators of a program that are shown, with their names."""

    def __init__(self, model: ProgramModel, part: str, every_block: bool) -> None:
        program = model.program
        self.blocks = program.blocks if every_block else program.blocks[:1]
        self.part = part
        self.names = op_names(op for block in program.blocks for op in block.ops)
        self.ids = {op: f"op{i}" for i, op in enumerate(self.names)}

    def block(self, block: Block) -> ListedBlock:
        """A block with what is shown of it."""
        ops = self._ops(block)
        variables = self._variables(block, ops)
        above = [text.block_line(block), *(f"    {text.variable_text(v)}" for v in variables), ""]
        listed = [self._operator(op) for op in ops]
        return ListedBlock(block.idx, block.parent_idx, above, [_variable(v) for v in variables], listed, ["}"])

    def _ops(self, block: Block) -> list[Operator]:
        if self.part == "both":
            return list(block.ops)
        return [op for op in block.ops if roles.is_forward(op.role) == (self.part == "fwd")]

    def _variables(self, block: Block, ops: Iterable[Operator]) -> list[Variable]:
        """The variables of *block* to list: of a part of the program those that it uses."""
        if self.part == "both":
            return list(block.vars.values())
        used = {v for op in ops for v in (*op.input_variables(), *op.output_variables())}
        return [v for v in block.vars.values() if v in used]

    def _operator(self, op: Operator) -> ListedOperator:
        return ListedOperator(
            self.ids[op],
            self.names[op],
            op.type,
            text.operator_text(op),
            [v.name for v in op.input_variables()],
            [v.name for v in op.output_variables()],
            {s: op.input(s) for s in op.input_names},
            {s: op.output(s) for s in op.output_names},
            {n: plain(v) for n, v in op.attrs.items()},
            op.role,
            "forward" if roles.is_forward(op.role) else "backward",
            self.ids.get(op.origin) if op.origin is not None else None,
            source.short(op.loc),
        )

    def pairs(self) -> list[Pair]:
        """Forward operators with their gradient operators; then backward operators that belong to none."""
        return [
            Pair(
                None if forward is None else PairedOperator(self.names[forward], _call(forward)),
                [PairedOperator(self.names[b], _call(b), _values_for_backward(b)) for b in backwards],
                source.short((forward or backwards[0]).loc),
            )
            for forward, backwards in self._pair()
        ]

    def _pair(self) -> Iterator[tuple[Operator | None, list[Operator]]]:
        ops = [op for block in self.blocks for op in block.ops]
        by_origin: dict[Operator, list[Operator]] = {}
        for op in ops:
            if op.origin is not None:
                by_origin.setdefault(op.origin, []).append(op)
        for op in ops:
            if roles.is_forward(op.role):
                yield op, by_origin.get(op, [])
            elif op.origin is None or not roles.is_forward(op.origin.role):
                yield None, [op]


def _variable(v: Variable) -> dict[str, Any]:
    return {
        "name": v.name,
        "shape": list(v.shape),
        "dtype": v.dtype.name,
        "is_parameter": v.is_parameter,
        "is_data": v.is_data,
        "persistable": v.persistable,
        "stop_gradient": v.stop_gradient,
    }


def _values_for_backward(op: Operator) -> list[str]:
    """The forward values that a gradient operator keeps alive, each once."""
    if op.origin is None:
        return []
    forward = {*op.origin.input_variables(), *op.origin.output_variables()}
    return list(dict.fromkeys(v.name for _, v, like in reads(op) if v in forward and not like))


def _call(op: Operator) -> str:
    """``y float32[?, 8], z … = split(x)``; of a gradient operator the arriving gradients first, then ``;``."""
    outputs = ", ".join(v.name for v in op.output_variables())
    written = next(iter(op.output_variables()), None)
    spec = "" if written is None or op.origin is not None else f" {_spec(written)}"
    called = f"{op.type}({_arguments(op)})"
    return f"{outputs}{spec} = {called}" if outputs else called


def _arguments(op: Operator) -> str:
    if op.origin is None:
        return ", ".join(v.name for v in op.input_variables())
    forward = {*op.origin.input_variables(), *op.origin.output_variables()}
    arriving = [v.name for v in op.input_variables() if v not in forward]
    kept = list(dict.fromkeys(v.name for v in op.input_variables() if v in forward))
    return "; ".join(t for t in (", ".join(arriving), ", ".join(kept)) if t)


def _spec(v: Variable) -> str:
    dims = ", ".join("?" if d < 0 else str(d) for d in v.shape)
    return f"{v.dtype.name}[{dims}]"
