"""The models of ``samples/models`` as graphs, in dynamic mode and as programs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

from gradtool.cli.context import Output
from gradtool.engine.core.source import Location
from gradtool.engine.view.from_program import view
from gradtool.engine.view.graph import GraphView
from gradtool.models import backward_part, opening
from gradtool.models.loader import Request
from gradtool.models.tape_model import TapeModel, recorded
from gradtool.viz.details import Details, details

MODELS = Path(__file__).parents[2] / "samples" / "models"
NAMES = ("resnet50", "gpt")
MODES = ("eager", "static")


@dataclass
class Model:
    """A graph, and where its operators were called: plain data, that tests can share."""

    name: str
    mode: str
    view: GraphView
    locations: list[Location]

    def details(self) -> Details:
        return details(self.view, self.locations)


@cache
def loaded(name: str, mode: str) -> Model:
    """A sample as the command line loads it for a page, with whole stacks."""
    with opening.opened(Request(str(MODELS / f"{name}.py"), mode=mode, full_stacks=True)) as model:
        if isinstance(model, TapeModel):
            graph = recorded(model)
            return Model(name, mode, graph.view, list(graph.locations))
        part = backward_part.append(model, (), (), Output(quiet=True))
        graph_view = view(model.program, title=model.name, loss=model.loss, gradients=dict(part.pairs))
        return Model(name, mode, graph_view, [op.loc for b in model.program.blocks for op in b.ops])
