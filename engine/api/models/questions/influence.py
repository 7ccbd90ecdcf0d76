"""What is found out about the flow of information through the layers that a file calls, and from its labels."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from gradtool.engine.answers.flow import inputs, labels, order, randomness, samples
from gradtool.engine.answers.flow.fact import FlowStory, Kind
from gradtool.engine.core import watch
from gradtool.engine.core.errors import GradtoolError
from gradtool.engine.runs.recorder import Recorder
from gradtool.nn import Layer

from .. import layer_calls, loader, opening
from ..answered import Answered
from ..errors import CommandError, ModelError
from ..layer_calls import LayerCall, LayerCalls
from ..loader import Loaded, Request
from ..model import About, Model
from ..notes import SILENT, Notes
from .debug import Debug
from .question import Question

_STATIC = "it is a static program"
_NO_LAYER = "the file calls no layer"
"""Why there is no call to ask about."""


@dataclass(frozen=True, slots=True)
class Influences(Answered):
    """What is so of the flow of information through a model."""

    about: About
    story: FlowStory


@dataclass(frozen=True, kw_only=True)
class Influence(Question[Influences]):
    """All that is found out; no options.

    Attributes:
        feed: a file of arrays to feed.
    """

    feed: str | None = None

    def ask(self, request: Request, notes: Notes = SILENT) -> Influences:
        """As in the base; calls of layers are noted while the file runs."""
        calls, recorder = LayerCalls(), Recorder()
        with recorder.recording(), calls.noting(), loader.executed(request, notes) as left, watch.unwatched():
            model = opening.model_in(left, request)
            story = FlowStory()
            if model.computes_while_loading:
                _through_layers(calls, left, story)
                story.no_calls = "" if calls.outermost else _NO_LAYER
            else:
                story.no_calls = _STATIC
            if not any(f.certain for f in story.of(Kind.FUTURE)):  # which is how the label is reached then
                story.facts += _from_labels(model, left, request, recorder, self.feed, story.unchecked)
            return Influences(model.about, story)

    def answer(self, model: Model, notes: Notes = SILENT) -> Influences:
        """As in the base: a model is loaded anew, for its calls have to be seen."""
        return self.ask(model.must_have_request("flow"), notes)


def _from_labels(
    model: Model, left: Loaded, request: Request, recorder: Recorder, feed: str | None, unchecked: list[str]
) -> list[Any]:
    """Labels that reach predictions, in the last pass of the file."""
    types = {c.op.type for c in recorder.calls} if model.computes_while_loading else None
    if types is not None and types.isdisjoint(labels.COMPARED):
        return []
    try:
        run, _ = type(model).timeline(left, request, recorder, Debug(feed=feed), SILENT)
    except (CommandError, GradtoolError) as error:
        unchecked.append(f"whether labels reach the prediction: {error.message}")
        return []
    return list(labels.leaks(run, unchecked))


def _through_layers(calls: LayerCalls, left: Loaded, story: FlowStory) -> None:
    predictors = calls.predictors()
    for call in predictors[layer_calls.MOST :]:
        story.unchecked.append(f"the flow of information through {_name(call.layer, left)}, as one of too many layers")
    for call in predictors[: layer_calls.MOST]:
        name = _name(call.layer, left)
        story.calls.append(name)
        try:
            story.facts += _of_call(call, name, left, story.unchecked)
        except (ModelError, GradtoolError) as error:
            story.unchecked.append(f"the flow of information through {name} in evaluation mode: {error.message}")


def _of_call(call: LayerCall, name: str, left: Loaded, unchecked: list[str]) -> Iterator[Any]:
    probe = layer_calls.probe(call, name, left.name)
    if not probe.outputs:
        return
    before = len(unchecked)
    yield from randomness.random(probe, unchecked)
    if len(unchecked) > before:
        return  # what differs by itself tells nothing
    rng = np.random.default_rng(0)
    yield from samples.mixed(probe, rng, unchecked)
    yield from order.future(probe, rng)
    without = list(inputs.without(probe, rng, unchecked))
    yield from without
    if not without:  # of a mask that is not read it is known already what it does not hide
        yield from inputs.padding(probe, rng)


def _name(layer: Layer, left: Loaded) -> str:
    """What people call a layer: the name that it has in the file, else its class."""
    return next((n for n, v in left.namespace.items() if v is layer and not n.startswith("_")), type(layer).__name__)
