"""The recorded calls behind the loss of a model of dynamic mode, and the gradient operators that backward runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...core import source
from ...core.notes import Notes
from ...core.source import Place
from ...core.wording import count, plain
from ...request.options import Cuts
from ...view.graph import BACKWARD, BOTH, FORWARD, OP, NodeView
from ..listing import ListedBlock, ListedOperator, Listing, Pair, PairedOperator
from .drawing import require_whole
from .model import TapeModel, record_graph

_PARTS = {"fwd": FORWARD, "bwd": BACKWARD, "both": BOTH}


def list_operators(model: TapeModel, part: str, blocks: bool, cuts: Cuts, notes: Notes) -> Listing:
    """The recorded calls as one block.

    Raises:
        CommandError: the graph is to be cut; it is shown as a whole.
        LossError: no recorded operator made the loss.
    """
    require_whole(model, cuts)
    shown = _Shown(model, part)
    return Listing(model.about, part, [shown.block()], shown.pairs, model.words)


class _Shown:
    """The operators that are shown."""

    def __init__(self, model: TapeModel, part: str) -> None:
        self.model = model
        self.graph = record_graph(model)
        self.by_id = self.graph.view.by_id()
        self.ops = [n for n in self.graph.view.only(_PARTS[part]).nodes if n.kind == OP]

    def block(self) -> ListedBlock:
        """The operators, after the tensors that nothing on the tape made."""
        model, graph = self.model, self.graph
        written = {t for op in self.ops for _, t in graph.writes[op.id]}
        read = {t for op in self.ops for _, t in graph.reads[op.id]}
        tensors = [n for n in graph.view.nodes if n.id in written | read]
        above = [f"tape of {model.name}: {count(len(model.nodes), 'recorded call')} behind {model.loss_name}"]
        above += [f"    {n.role} {n.name} : {n.spec}" for n in tensors if n.id not in written]
        variables = [self._variable(n) for n in tensors]
        return ListedBlock(0, -1, [*above, ""], variables, [self._operator(op) for op in self.ops])

    def _operator(self, op: NodeView) -> ListedOperator:
        reads, writes = self.graph.reads[op.id], self.graph.writes[op.id]
        return ListedOperator(
            op.id,
            op.name,
            op.type,
            f"{op.id}: {self._call(op)}",
            self._names(reads),
            self._names(writes),
            self._slots(reads),
            self._slots(writes),
            {n: plain(v) for n, v in self.graph.nodes[op.id].attrs.items()},
            0 if op.part == FORWARD else 1,
            op.role,
            op.pair if op.part == BACKWARD else None,
            self._place(op),
        )

    def _place(self, op: NodeView) -> Place:
        """The line of a recorded call, also for its gradient operator."""
        forward = op.id if op.id in self.graph.nodes else op.pair or ""
        return source.short(self.graph.nodes[forward].loc)

    def pairs(self) -> list[Pair]:
        """A recorded call and its gradient operator, with what is kept for it."""
        forward = [n for n in self.graph.view.nodes if n.kind == OP and n.part == FORWARD]
        return [
            Pair(PairedOperator(op.name, self._call(op)), [self._backward(self.by_id[op.pair or ""])], self._place(op))
            for op in forward
        ]

    def _backward(self, op: NodeView) -> PairedOperator:
        return PairedOperator(op.name, self._call(op), self._list_saved(op))

    def _names(self, entries: Sequence[tuple[str, str]]) -> list[str]:
        return [self.by_id[t].name for _, t in entries]

    def _list_saved(self, backward: NodeView) -> list[str]:
        """The forward values that a gradient operator keeps alive, each once."""
        edges = [e for e in self.graph.view.edges if e.target == backward.id and e.saved]
        return list(dict.fromkeys(self.by_id[e.tensor].name for e in edges))

    def _call(self, op: NodeView) -> str:
        """``y float32[4, 8] = relu(x)``; of a gradient operator the arriving gradients first, then ``;``."""
        written = [self.by_id[t] for _, t in self.graph.writes[op.id]]
        read = [self.by_id[t] for _, t in self.graph.reads[op.id]]
        outputs = ", ".join(dict.fromkeys(n.name for n in written))
        if op.part == FORWARD:
            spec = f" {written[0].spec}" if written else ""
            return f"{outputs}{spec} = {op.type}({', '.join(n.name for n in read)})"
        arriving = [n.name for n in read if n.part == BACKWARD]
        kept = list(dict.fromkeys(n.name for n in read if n.part == FORWARD))
        arguments = "; ".join(t for t in (", ".join(arriving), ", ".join(kept)) if t)
        return f"{outputs} = {op.type}({arguments})"

    def _variable(self, n: NodeView) -> dict[str, Any]:
        return {
            "name": n.name,
            "shape": list(n.shape or ()),
            "dtype": n.dtype,
            "is_parameter": n.role == "parameter",
            "is_data": n.role == "constant",
            "persistable": n.role == "parameter",
            "stop_gradient": n.role == "constant",
        }

    def _slots(self, entries: Sequence[tuple[str, str]]) -> dict[str, list[str]]:
        slots: dict[str, list[str]] = {}
        for slot, tensor in entries:
            slots.setdefault(slot, []).append(self.by_id[tensor].name)
        return slots
