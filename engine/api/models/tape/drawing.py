"""What pictures of a recorded graph are made of."""

from __future__ import annotations

from gradtool.engine.view.graph import BACKWARD, FORWARD, OP

from ..model import Graph
from ..questions.cuts import Cuts
from .model import TapeModel, recorded


def graph(model: TapeModel, cuts: Cuts) -> Graph:
    """The recorded graph behind the loss.

    Raises:
        CommandError: it is to be cut; it is shown as a whole.
        LossError: no recorded operator made the loss.
    """
    shown_whole(model, cuts)
    tape = recorded(model)
    view = tape.view
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
    return Graph(view, list(tape.locations), facts)


def shown_whole(model: TapeModel, cuts: Cuts) -> None:
    """Raise :class:`CommandError` for cuts of what was recorded: they change nothing in it."""
    model.must_take({"shown --params": cuts.params, "shown --no-grad": cuts.no_grad})
