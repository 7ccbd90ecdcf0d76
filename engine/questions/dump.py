"""``dump``: both graphs, and the user's stack of every operator."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from ..answers.diff.outline import Outline
from ..core.notes import SILENT, Notes
from ..core.records import dataclass
from ..kinds.about import About, ModelGraph
from ..kinds.model import Model
from ..request.options import Cuts
from .backward import Backward
from .question import Question


@dataclass(frozen=True, slots=True)
class Dumped:
    """Contents of the files of a dump.

    Attributes:
        outline: the graph as ``gradtool diff`` reads it.
        gradients: by the names of what they belong to, if they were asked for.
    """

    about: About
    graph: ModelGraph
    outline: Outline
    gradients: Mapping[str, Any] | None


@dataclass(frozen=True, kw_only=True)
class Dump(Cuts, Question[Dumped]):
    """Options of a dump, next to the graphs.

    Attributes:
        grads: the gradients of one run, too.
        feed: a file of arrays to feed, which implies *grads*.
    """

    grads: bool = False
    feed: str | None = None

    needs: ClassVar = {"journal": True, "full_stacks": True}

    def answer(self, model: Model, notes: Notes = SILENT) -> Dumped:
        """The graph of the model, and its gradients if they are asked for."""
        model.must_take({"shown --params": self.params, "shown --no-grad": self.no_grad, "--feed": self.feed})
        run = self.grads or bool(self.feed)
        asked = Backward(params=self.params, no_grad=self.no_grad, feed=self.feed, run=run)
        graph, outline, table = model.dump(asked, notes)
        if table is None:
            return Dumped(model.about, graph, outline, None)
        rows = {row.name: row for row in table.rows}
        owners = [rows[name] for name, _ in table.pairs]
        gradients = {r.name if table.named_gradients else r.shown: table.arrays[r.subject] for r in owners}
        return Dumped(model.about, graph, outline, gradients)
