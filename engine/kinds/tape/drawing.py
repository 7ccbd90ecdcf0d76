"""Pictures of a recorded graph."""

from __future__ import annotations

from collections.abc import Sequence

from ...answers.why.picture_marks import mark_view
from ...answers.why.verdicts import Verdict
from ...core.notes import SILENT, Notes
from ...core.source import Location
from ...eager.journal import Journal
from ...eager.tensor import Tensor
from ...request.options import Cuts
from ...view.branches import view_branches
from ...view.graph import BACKWARD, FORWARD, OP, GraphView
from ...view.unrecorded_calls import find_detached_calls
from ..about import ModelGraph
from .gradients import explain
from .model import TapeModel, record_graph


def whole_graph(model: TapeModel) -> ModelGraph:
    """The recorded graph behind the loss, without anything that a command left out."""
    return graph(model, Cuts(), SILENT)


def graph(model: TapeModel, cuts: Cuts, notes: Notes) -> ModelGraph:
    """The recorded graph behind the loss.

    Raises:
        CommandError: it is to be cut; it is shown as a whole.
        LossError: no recorded operator made the loss.
    """
    require_whole(model, cuts)
    view, locations = _show_graph(model)
    by_id = view.by_id()
    parts = [n.part for n in view.nodes if n.kind == OP]
    losses = [n.name for n in view.nodes if n.role == "loss"]
    facts = {
        "mode": model.mode,
        "model": model.name,
        "loss": losses[0] if len(losses) == 1 else None,
        "operators": {"forward": parts.count(FORWARD), "backward": parts.count(BACKWARD)},
        "pairs": [[by_id[n.pair].name, n.name] for n in view.nodes if n.role == "gradient" and n.pair is not None],
    }
    return ModelGraph(view, list(locations), facts)


def _show_graph(model: TapeModel) -> tuple[GraphView, Sequence[Location]]:
    """The recorded graph with what the pass lost beside it, as far as the program was watched."""
    tape, journal = record_graph(model), model.journal
    if journal is None or not journal.knows(model.loss, model.nodes):
        return tape.view, tape.locations
    # What gets no gradient, and why.
    reasons = explain(model, ())
    leaves = [e.tensor for e in model.entries if e.tensor.is_leaf and (e.is_parameter or not e.tensor.stop_gradient)]
    verdicts = {t: reason for t in leaves if (reason := reasons.explain_tensor(t)).verdict is not Verdict.OK}
    trained = [journal.number(t) for t in leaves if not t.stop_gradient]
    lost = {journal.number(t): reason.words for t, reason in verdicts.items()}
    # The picture.
    loss, behind = journal.number(model.loss), {n.key for n in model.nodes}
    calls = find_detached_calls(journal, loss, behind, reasons.depends, trained, lost)
    loose = [t for t in verdicts if not _is_trained_elsewhere(journal, t)]
    picture = view_branches(tape, journal, calls, reasons.depends, model.tensor_names, loose)
    makers = picture.makers
    left = {makers[r.cut.value]: r.words for r in verdicts.values() if r.cut is not None and r.cut.value in makers}
    id_of = {number: tensor for tensor, number in picture.numbers.items()}
    view = mark_view(
        picture.view,
        reasons,
        lambda edge: picture.numbers.get(edge.tensor),
        picture.calls.get,
        {id_of[n]: words for n, words in lost.items() if n in id_of},
        [id_of[n] for n in trained if n in id_of],
        left,
    )
    return view, picture.locations


def _is_trained_elsewhere(journal: Journal, t: Tensor) -> bool:
    """Return whether a backward pass gave *t* a gradient."""
    return any(e.kind == "added" for e in journal.events.get(journal.number(t), ()))


def require_whole(model: TapeModel, cuts: Cuts) -> None:
    """Raise :class:`CommandError` for cuts of what was recorded: they change nothing in it."""
    model.must_take({"shown --params": cuts.params, "shown --no-grad": cuts.no_grad})
