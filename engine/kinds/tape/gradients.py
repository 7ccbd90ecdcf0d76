"""The backward pass of a model of dynamic mode, and its table: every leaf with its gradient or the reason why not."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from ...answers import backend_replay
from ...answers.numbers import Numbers
from ...answers.why.of_journal import JournalReasons, NamedTensor, explain_tensors
from ...answers.why.statistics import LABEL as STATISTICS
from ...core import names, source
from ...core.notes import Notes
from ...core.source import Location, Place
from ...eager import backward as sweeping
from ...eager.tape import InplaceError
from ...eager.tensor import Leaf, Tensor
from ...kernels.choice import DEFAULT, current
from ...request.options import BackwardOptions, Cuts
from ...script.shares import is_close
from ...view.from_tape import TapeGraph
from ...view.graph import BACKWARD, FORWARD, OP
from ..gradients import NOT_ASKED, GradientRow, GradientTable, Loss, status
from ..origins import lines_of
from .model import TapeEntry, TapeModel, record_graph

_UNWATCHED = "no gradient; the model was not watched, so that nobody knows why"


def table(model: TapeModel, asked: BackwardOptions, notes: Notes) -> GradientTable:
    """The table of gradients: those that the file's own pass gave, else of one pass that touches no ``.grad``.

    Raises:
        CommandError: a selector selects nothing, or an option is for programs.
        GradtoolError: the engine refused.
    """
    model.must_take(
        {
            "--callbacks": asked.callbacks,
            "--feed": asked.feed,
            "--backend": asked.backend not in (None, DEFAULT),
            "--checkpoints": asked.checkpoints,
            "--memory-budget": asked.memory_budget is not None,
        }
    )
    # What is asked for.
    graph = record_graph(model)
    select = model.selection()
    chosen = select.select("--params", asked.params, notes, parameters_only=True) if asked.params else None
    stopped = select.select("--no-grad", asked.no_grad, notes)
    subjects = _subjects(model, chosen or ())
    # The pass.
    constants = [t for t in stopped if not t.stop_gradient]
    inside: set[Any] = {*graph.nodes.values(), *model.leaves_behind}
    wanted = [t for t in (e.tensor for e in subjects) if not t.stop_gradient and _is_reached(t, inside)]
    places = {t.tape_place() for t in constants}
    cut = all(t.tape_place() in places for t in model.start.differentiated)
    known = model.gradients_of_file() if not (constants or current().compiles) else None
    arrays: dict[Tensor, Any] = {}
    if known is not None:
        arrays = {e.tensor: known[e.tensor.leaf] for e in subjects if e.tensor._leaf in known}
        wanted = [t for t in wanted if not t.is_leaf]
    arrays |= {} if cut or not wanted else _gradients(model, wanted, constants)
    # The table.
    reasons = explain(model, stopped) if model.journal is not None else None
    listed = None if chosen is None else set(chosen)
    makers, uses = _makers(model, graph), _first_uses(graph)
    several = bool(model.siblings) or len({at for s in model.file_shares().values() for _, at in s.passes}) > 1
    rows = []
    for e in subjects:
        array = arrays.get(e.tensor)
        text = STATISTICS if e.tensor in model.statistics else _status(e, array, reasons, listed)
        if array is None and model.is_left_out(e.tensor):
            assert model.pass_call is not None
            text = f"not in the inputs of backward, {source.short(model.pass_call.location)}"
        operator = makers.get(e.tensor.tape_place()) if array is not None else None
        row = _row(e, array, operator, text, _source(e.tensor, uses))
        rows.append(_add_origin(row, model, e.tensor, array, several) if known is not None else row)
    loss = model.loss
    shown = {e.tensor: e.display_name for e in model.entries}
    return GradientTable(
        model.about,
        Loss(model.loss_name, loss.spec.shape, loss.dtype.name, model.loss_value()),
        rows,
        "leaf",
        "leaves",
        [[r.name, r.gradient] for r in rows if r.has_gradient and r.gradient is not None],
        _operators(graph, FORWARD),
        _operators(graph, BACKWARD),
        [t.name for t in stopped],
        None if chosen is None else [t.name for t in chosen],
        len(wanted) - len(arrays) if stopped else 0,
        computed=True,
        two_names=True,
        named_gradients=False,
        words=list(model.words),
        graph=lambda: model.draw(Cuts()),
        shown_no_grad=[shown.get(t, t.name) for t in stopped],
        first_cut=next((r.shown for r in rows if r.is_cut), None),
        arrays=arrays,
        origins=() if known is None else model.origins(),
    )


def _subjects(model: TapeModel, chosen: Iterable[Tensor]) -> list[TapeEntry]:
    """The leaves, then other tensors asked for."""
    subjects = {e.tensor: e for e in model.entries if e.tensor.is_leaf}
    named = {e.tensor: e for e in model.entries}
    for t in chosen:
        subjects.setdefault(t, named.get(t) or TapeEntry(t, None, None))
    return list(subjects.values())


def _makers(model: TapeModel, graph: TapeGraph) -> dict[Any, str]:
    """Place -> the gradient operator that its gradient comes from, in the graph of the pass that gives it."""
    makers: dict[Any, str] = {}
    for sibling in model.siblings:
        makers |= _gradient_operators(sibling.tape_graph)
    return makers | _gradient_operators(graph)


def _add_origin(row: GradientRow, model: TapeModel, t: Tensor, array: Any, several: bool) -> GradientRow:
    """*row* with the lines that gave the gradient, where there are several, and with what became of it.

    That is what ``.grad`` held after them, and what an optimizer went by.
    """
    if array is None or t._leaf is None:
        return row
    share = model.shares.get(t.leaf)
    if share is not None:
        row.given_by, held = lines_of(share.passes) if several else "", share.held
    else:
        held = None if model.pass_call is None else model.pass_call.held.get(t.leaf)
    if held is not None and not is_close(held, array):
        row.held = Numbers.measure(held, orders=False)
    used = None if share is None else share.used
    if used is not None and not is_close(used, array if held is None else held):
        row.used = Numbers.measure(used, orders=False)
    return row


def _status(e: TapeEntry, array: Any, reasons: JournalReasons | None, listed: set[Tensor] | None) -> str:
    if array is None:
        reason = _UNWATCHED if reasons is None else status(reasons.explain_tensor(e.tensor))
        return f"{_drop_note(e.dropped)} · {reason}" if e.dropped else reason
    return "" if listed is None or e.tensor in listed else f"{NOT_ASKED}, still computed"


def _drop_note(times: int) -> str:
    return "dropped" if times == 1 else f"dropped, {times} times"


def _row(e: TapeEntry, array: Any, operator: str | None, text: str, where: Place) -> GradientRow:
    facts = {
        "layer_path": e.path,
        "python_name": e.python,
        "is_parameter": e.is_parameter,
        "trainable": not e.tensor.stop_gradient,
        "dropped": e.dropped,
    }
    gradient, values = (None, None) if array is None else (names.grad(e.name), Numbers.measure(array, orders=False))
    spec = e.tensor.spec
    return GradientRow(
        e.tensor,
        e.name,
        e.display_name,
        spec.shape,
        e.tensor.dtype.name,
        gradient,
        operator,
        text,
        where,
        facts,
        values,
    )


def _operators(graph: TapeGraph, part: str) -> int:
    return sum(n.kind == OP and n.part == part for n in graph.view.nodes)


def _is_reached(t: Tensor, inside: set[Any]) -> bool:
    place = t.tape_place()
    return (place if isinstance(place, Leaf) else place[0]) in inside


def _gradients(model: TapeModel, wanted: Sequence[Tensor], constants: Sequence[Tensor]) -> dict[Tensor, Any]:
    """The gradients of one pass that is run for them, as arrays of what gets one."""
    try:
        with backend_replay.hear(None) as telling:
            gradients: list[Tensor | None] = model.call(
                sweeping.grad,
                model.start.roots,
                wanted,
                [None if g is None else Tensor(g) for g in model.start.gradients],
                retain_graph=True,
                create_graph=False,
                constants=constants,
            )
            given = {t: g.array for t, g in zip(wanted, gradients, strict=True) if g is not None}
            arrays = telling.settle({t.tape_place(): array for t, array in given.items()})
    except InplaceError as error:
        error.hint = "the command runs backward over the last graph; leave a loss whose values were not overwritten"
        raise
    return {t: arrays[t.tape_place()] for t in given}


def _gradient_operators(graph: TapeGraph) -> dict[Any, str]:
    """Place -> the gradient operator that its gradient comes from; the last of several."""
    by_id = graph.view.by_id()
    makers: dict[Any, str] = {}
    for node in graph.view.nodes:
        if node.kind == OP and node.part == BACKWARD:
            for _, gradient in graph.writes[node.id]:
                tensor = by_id[gradient].pair
                if tensor is not None:
                    makers[graph.places[tensor]] = node.name
    return makers


def _first_uses(graph: TapeGraph) -> dict[Any, Location]:
    """Place -> the line of the first operator that reads it."""
    uses: dict[Any, Location] = {}
    for node in graph.view.nodes:
        if node.kind == OP and node.part == FORWARD:
            for _, tensor in graph.reads[node.id]:
                if tensor in graph.places:
                    uses.setdefault(graph.places[tensor], graph.nodes[node.id].loc)
    return uses


def _source(t: Tensor, used: dict[Any, Location]) -> Place:
    if t.loc:
        return source.short(t.loc)
    if t.node is not None:
        return source.short(t.node.loc)
    return source.short(source.NOWHERE if t.stop_gradient else used.get(t.tape_place(), source.NOWHERE))


def explain(model: TapeModel, stopped: Iterable[Tensor]) -> JournalReasons:
    """Why the tensors of the model have a gradient or none."""
    assert model.journal is not None
    known = [NamedTensor(e.tensor, e.display_name, e.tensor.loc) for e in model.entries]
    return explain_tensors(model.journal, model.start.differentiated, known, stopped)
