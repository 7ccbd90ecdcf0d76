"""The backward pass of a model of dynamic mode, and its table: every leaf with its gradient or the reason why not."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from gradtool.engine.answers.why.of_journal import JournalReasons, explain_tensors
from gradtool.engine.core import names, source
from gradtool.engine.eager import backward as sweeping
from gradtool.engine.eager.tape import InplaceError
from gradtool.engine.eager.tensor import Leaf, Tensor
from gradtool.engine.view.from_tape import TapeGraph
from gradtool.engine.view.graph import BACKWARD, FORWARD, OP
from gradtool.models.feeds import statistics
from gradtool.models.rows import STYLES, VALUE_HEADINGS, status
from gradtool.models.tape_model import Entry, TapeModel, recorded
from gradtool.models.tape_selectors import TapeSelectors
from gradtool.models.wording import NOTHING, command_line, count, finite, number, shape

from .context import Output
from .views import Report, Table

_NOT_ASKED = "not in --params"
_UNWATCHED = "no gradient; the model was not watched, so that nobody knows why"


@dataclass
class EagerRow:
    """A tensor and what became of its gradient.

    Attributes:
        values: statistics of the gradient, if there is one.
        operator: the gradient operator that makes it.
        source: where the tensor was made, or first used where that is not known.
        status: ``ok``, or why it has no gradient or was left out.
    """

    entry: Entry
    values: dict[str, Any] | None
    operator: str | None
    source: str
    status: str

    @property
    def ok(self) -> bool:
        return self.status == "ok"

    @property
    def gradient(self) -> str | None:
        return None if self.values is None else names.grad(self.entry.name)

    def data(self) -> dict[str, Any]:
        """The row in JSON's types."""
        e, (file, _, line) = self.entry, self.source.rpartition(":")
        return {
            "name": e.name,
            "layer_path": e.path,
            "python_name": e.python,
            "is_parameter": e.is_parameter,
            "trainable": not e.tensor.stop_gradient,
            "shape": list(e.tensor.spec.shape),
            "dtype": e.tensor.dtype.name,
            "gradient": self.gradient,
            "operator": self.operator,
            "status": self.status,
            "source": {"file": file, "line": int(line)} if file else None,
            "values": None if self.values is None else {k: finite(v) for k, v in self.values.items()},
            "returned": self.ok,
        }


@dataclass
class EagerPart:
    """What a backward pass gave.

    Attributes:
        graph: the recorded graph.
        removed: how many gradients ``--no-grad`` removed.
        arrays: the gradients.
    """

    model: TapeModel
    graph: TapeGraph
    rows: list[EagerRow]
    no_grad: list[Tensor]
    params: list[Tensor] | None
    removed: int
    arrays: dict[Tensor, Any]

    @property
    def pairs(self) -> list[list[str]]:
        return [[r.entry.name, r.gradient] for r in self.rows if r.ok and r.gradient is not None]

    def operators(self, part: str) -> int:
        """How many operators a part of the graph has."""
        return sum(n.kind == OP and n.part == part for n in self.graph.view.nodes)


def run(model: TapeModel, params: tuple[str, ...], no_grad: tuple[str, ...], out: Output) -> EagerPart:
    """Run the backward pass under a parameter list and a no-grad set; no ``.grad`` is touched.

    Raises:
        CommandError: a selector selects nothing.
        GradtoolError: the engine refused.
    """
    graph = recorded(model)
    selectors = TapeSelectors(model, graph)
    asked = selectors.select("--params", params, out, parameters_only=True) if params else None
    stopped = selectors.select("--no-grad", no_grad, out)
    listed = [e for e in model.entries if e.tensor.is_leaf]
    known = {e.tensor for e in listed}
    by_tensor = {e.tensor: e for e in model.entries}
    for t in asked or ():
        if t not in known:
            listed.append(by_tensor[t] if t in by_tensor else Entry(t, None, None))
    constants = [t for t in stopped if not t.stop_gradient]
    inside: set[Any] = set(graph.nodes.values())
    inside |= set(model.leaves)
    wanted = [t for t in (e.tensor for e in listed) if not t.stop_gradient and _reached(t, inside)]
    cut = any(t.on_tape() == model.loss.on_tape() for t in constants)
    found = [None] * len(wanted) if cut else _gradients(model, wanted, constants, out)
    arrays = {t: g.array for t, g in zip(wanted, found, strict=True) if g is not None}
    reasons = explain(model, stopped) if model.journal is not None else None
    rows = []
    made, used, kept = _made_by(graph), _first_uses(graph), set(asked or ())
    for e in listed:
        array = arrays.get(e.tensor)
        text = "ok"
        if array is None:
            text = _UNWATCHED if reasons is None else status(reasons.of_tensor(e.tensor))
        if array is not None and asked is not None and e.tensor not in kept:
            text = f"{_NOT_ASKED}, still computed"
        values = statistics(array) if array is not None else None
        operator = made.get(e.tensor.on_tape()) if array is not None else None
        rows.append(EagerRow(e, values, operator, _source(e.tensor, used), text))
    removed = len(wanted) - len(arrays) if stopped else 0
    return EagerPart(model, graph, rows, stopped, asked, removed, arrays)


def _reached(t: Tensor, inside: set[Any]) -> bool:
    place = t.on_tape()
    return (place if isinstance(place, Leaf) else place[0]) in inside


def _gradients(model: TapeModel, wanted: list[Tensor], constants: list[Tensor], out: Output) -> list[Tensor | None]:
    """The gradients of one pass."""
    try:
        found: list[Tensor | None] = model.call(
            sweeping.grad,
            [model.loss],
            wanted,
            [None],
            retain_graph=True,
            create_graph=False,
            constants=constants,
        )
    except InplaceError as error:
        error.hint = "the command runs backward over the last graph; leave a loss whose values were not overwritten"
        raise
    if any(leaf.hooks for leaf in model.leaves):
        out.note("hooks on leaves change .grad alone: shown are the gradients that they get")
    if model.restored:
        out.note(f"{model.name} ran backward itself: shown is one pass over the same graph, not what is in .grad")
    return found


def _made_by(graph: TapeGraph) -> dict[Any, str]:
    """Place -> the gradient operator that its gradient comes from; the last of several."""
    by_id = graph.view.by_id()
    found = {}
    for node in graph.view.nodes:
        if node.kind == OP and node.part == BACKWARD:
            for _, gradient in graph.writes[node.id]:
                tensor = by_id[gradient].pair
                if tensor is not None:
                    found[graph.places[tensor]] = node.name
    return found


def _first_uses(graph: TapeGraph) -> dict[Any, str]:
    """Place -> the line of the first operator that reads it."""
    found: dict[Any, str] = {}
    for node in graph.view.nodes:
        if node.kind == OP and node.part == FORWARD:
            for _, tensor in graph.reads[node.id]:
                if tensor in graph.places:
                    found.setdefault(graph.places[tensor], node.source)
    return found


def _source(t: Tensor, used: dict[Any, str]) -> str:
    if t.loc:
        return source.short(t.loc)
    if t.node is not None:
        return source.short(t.node.loc)
    return "" if t.stop_gradient else used.get(t.on_tape(), "")


def explain(model: TapeModel, stopped: Iterable[Tensor]) -> JournalReasons:
    """Why the tensors of the model have a gradient or none."""
    assert model.journal is not None
    known = [(e.tensor, e.shown, e.tensor.loc) for e in model.entries]
    return explain_tensors(model.journal, [model.loss], known, stopped)


# -- what is shown ----------------------------------------------------------------------------------------------------


def report(part: EagerPart, again: list[str]) -> Report:
    """The answer of ``gradtool backward``."""
    model, loss = part.model, part.model.loss
    forward, backward = part.operators(FORWARD), part.operators(BACKWARD)
    value = float(loss.array.reshape(())) if loss.spec.count == 1 else None
    head = (
        f"tape  {model.name} · eager · {count(forward, 'forward op')} → {count(backward, 'backward op')} · "
        f"loss {model.loss_name} {list(loss.spec.shape)} {loss.dtype.name}"
    )
    head += f" = {number(value)}" if value is not None else ""
    data = {
        "model": model.name,
        "mode": "eager",
        "loss": {
            "name": model.loss_name,
            "shape": list(loss.spec.shape),
            "dtype": loss.dtype.name,
            "value": None if value is None else finite(value),
        },
        "operators": {"forward": forward, "backward": backward, "left_out": 0},
        "parameters": [r.data() for r in part.rows],
        "pairs": part.pairs,
        "no_grad": [t.name for t in part.no_grad],
        "params": None if part.params is None else [t.name for t in part.params],
        "removed_by_no_grad": part.removed,
        "recomputed": None,
    }
    cut = next((r.entry.shown for r in part.rows if not r.ok and (r.entry.is_parameter or "used" in r.status)), None)
    next_ = [] if cut is None else [command_line("gradtool", "why", cut, *again)]
    next_ += [
        command_line("gradtool", "program", *again, "--pairs"),
        command_line("gradtool", "dump", *again, "graphs"),
    ]
    return Report("backward", data, [head, _table(part), _summary(part)], next_)


def _table(part: EagerPart) -> Table:
    table = Table(["leaf", "tensor", "shape", "from op", *VALUE_HEADINGS, "status", "source"], styles=STYLES)
    for row in part.rows:
        e, found = row.entry, row.values
        cells = [e.shown, e.name, shape(e.tensor.spec.shape), row.operator or NOTHING]
        if found is None:
            cells += [NOTHING] * len(VALUE_HEADINGS)
        else:
            zeros = f"{found['zeros']}/{found['elements']}"
            cells += [number(found["norm"]), number(found["max_abs"]), zeros, str(found["nonfinite"])]
        table.rows.append([*cells, row.status, row.source or NOTHING])
    return table


def _summary(part: EagerPart) -> str:
    got = sum(r.ok for r in part.rows)
    one = len(part.rows) == 1
    text = f"{got} of {len(part.rows)} {'leaf' if one else 'leaves'} get{'s' if one else ''} a gradient"
    if part.no_grad:
        known = {e.tensor: e.shown for e in part.model.entries}
        shown = ", ".join(known.get(t, t.name) for t in part.no_grad[:3]) + (", …" if len(part.no_grad) > 3 else "")
        text += f" · --no-grad {shown} removed {count(part.removed, 'gradient')}"
    left_out = sum(r.status.startswith(_NOT_ASKED) for r in part.rows)
    if left_out:
        text += f" · --params leaves out {left_out}"
    return text
