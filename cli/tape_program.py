"""A recorded graph as text: what ``gradtool program`` prints for a model of dynamic mode."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gradtool.engine.view.from_tape import TapeGraph
from gradtool.engine.view.graph import BACKWARD, FORWARD, OP, NodeView
from gradtool.models.tape_model import TapeModel
from gradtool.models.wording import NOTHING, command_line, count, plain

from .eager_files import PARTS
from .views import Report, Table


class TapeText:
    """The recorded calls behind the loss of a model, and the gradient operators that backward runs for them.

    Args:
        part: ``fwd``, ``bwd`` or ``both``.
    """

    def __init__(self, model: TapeModel, graph: TapeGraph, part: str) -> None:
        self.model = model
        self.graph = graph
        self.part = part
        self.by_id = graph.view.by_id()
        self.ops = [n for n in graph.view.only(PARTS[part]).nodes if n.kind == OP]

    def listing(self, with_source: bool, again: Sequence[str], form: str) -> Report:
        """Every operator on a line, after the tensors that nothing on the tape made."""
        table = Table(["id", "op", "inputs", "outputs", "role", "source"])
        lines = [f"tape of {self.model.name}: {count(len(self.model.nodes), 'recorded call')} behind {self._loss}"]
        made = {t for op in self.ops for _, t in self.graph.writes[op.id]}
        read = {t for op in self.ops for _, t in self.graph.reads[op.id]}
        tensors = [n for n in self.graph.view.nodes if n.id in made | read]
        lines += [f"    {n.role} {n.name} : {n.spec}" for n in tensors if n.id not in made]
        lines.append("")
        for op in self.ops:
            where = f"  // {op.source}" if with_source and op.source else ""
            lines.append(f"    {op.id}: {self._call(op)}{where}")
            table.rows.append(
                [
                    op.id,
                    op.name,
                    ", ".join(self._names(self.graph.reads[op.id])) or NOTHING,
                    ", ".join(self._names(self.graph.writes[op.id])) or NOTHING,
                    op.role,
                    op.source or NOTHING,
                ]
            )
        block = {
            "index": 0,
            "parent": -1,
            "variables": [self._variable(n) for n in tensors],
            "operators": [self._operator(n) for n in self.ops],
        }
        data = {"model": self.model.name, "part": self.part, "blocks": [block]}
        next_ = [command_line("gradtool", "program", *again, "--pairs")]
        shown: list[str | Table] = [table] if form in ("tsv", "markdown") else ["\n".join(lines)]
        return Report("program", data, shown, next_)

    def pairs(self, again: Sequence[str]) -> Report:
        """A recorded call and its gradient operator on one row, with what is kept for it."""
        table = Table(["forward", "saved", "", "backward", "source"])
        entries = []
        for op in (n for n in self.graph.view.nodes if n.kind == OP and n.part == FORWARD):
            assert op.pair is not None
            backward = self.by_id[op.pair]
            saved = self._saved(backward)
            table.rows.append(
                [self._call(op), ", ".join(saved) or NOTHING, "↔", self._call(backward), op.source or NOTHING]
            )
            entries.append(
                {"forward": op.name, "backward": [{"name": backward.name, "saved": saved}], "source": op.source or None}
            )
        total = len(entries)
        last = f"{total} of {count(total, 'forward op')} {'has' if total == 1 else 'have'} a gradient op"
        data = {"model": self.model.name, "pairs": entries}
        return Report("pairs", data, [table, last], [command_line("gradtool", "program", *again, "--source")])

    @property
    def _loss(self) -> str:
        return self.model.loss_name

    def _names(self, entries: Sequence[tuple[str, str]]) -> list[str]:
        return [self.by_id[t].name for _, t in entries]

    def _saved(self, backward: NodeView) -> list[str]:
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

    def _operator(self, op: NodeView) -> dict[str, Any]:
        return {
            "id": op.id,
            "name": op.name,
            "type": op.type,
            "inputs": self._slots(self.graph.reads[op.id]),
            "outputs": self._slots(self.graph.writes[op.id]),
            "attributes": {n: plain(v) for n, v in self.graph.nodes[op.id].attrs.items()},
            "role": 0 if op.part == FORWARD else 1,
            "gradient_of": op.pair if op.part == BACKWARD else None,
            "source": op.source or None,
        }

    def _slots(self, entries: Sequence[tuple[str, str]]) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for slot, tensor in entries:
            found.setdefault(slot, []).append(self.by_id[tensor].name)
        return found
