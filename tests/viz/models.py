"""The models of ``samples/models`` as graphs, in dynamic mode and as programs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

from gradtool.engine.core.source import Location
from gradtool.engine.loading import opening
from gradtool.engine.request.options import Cuts
from gradtool.engine.request.request import Request
from gradtool.engine.view.graph import GraphView
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
    with opening.open_model(Request.create(str(MODELS / f"{name}.py"), mode=mode, full_stacks=True)) as model:
        graph = model.draw(Cuts())
        return Model(name, mode, graph.view, list(graph.locations))
