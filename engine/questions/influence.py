"""Flow of information through the layers that a file calls, and from its labels."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator

import numpy as np

from gradtool.paddle.nn import Layer

from ..answers.flow import inputs, labels, next_steps, order, randomness, samples
from ..answers.flow.fact import Fact, FactKind, FlowStory
from ..answers.flow.probe import Probe
from ..answers.why import callers
from ..core import watch
from ..core.answer import Answered
from ..core.command_errors import CommandError, ModelError
from ..core.errors import GradtoolError
from ..core.notes import SILENT, Notes
from ..core.records import dataclass
from ..kinds import layer_calls, run_probes
from ..kinds.about import About
from ..kinds.layer_calls import LayerCall, LayerCalls, UncalledLayer
from ..kinds.model import Model
from ..loading import loader, opening
from ..request.options import Debug
from ..request.request import Request
from ..runs.recorder import Recorder
from ..runs.timeline import Timeline
from ..script.script_state import Loaded
from .earlier_passes import EarlierPasses
from .question import Question


@dataclass(frozen=True, slots=True)
class Influences(Answered):
    """Facts about the flow of information through a model."""

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
        with self.record(request, Recorder()) as answer, loader.run_model(request, notes) as left:
            return answer(left, notes)

    @contextlib.contextmanager
    def record(self, request: Request, recorder: Recorder) -> Iterator[Callable[[Loaded, Notes], Influences]]:
        """Record the file that runs inside; yield the function that answers while its model is open.

        Args:
            recorder: a new one, which holds the last pass when the file is over.
        """
        earlier = EarlierPasses(_look_at_earlier)
        recorder.forgetting = earlier
        calls = LayerCalls(recorder)
        with recorder.record(), watch.watch(None, recorder.note_lent), calls.note_calls():
            yield lambda left, notes: self._answer_run(left, request, recorder, calls, earlier)

    def _answer_run(
        self, left: Loaded, request: Request, recorder: Recorder, calls: LayerCalls, earlier: EarlierPasses
    ) -> Influences:
        with watch.pause_watchers():
            model = opening.model_in(left, request)
            story = FlowStory()
            if model.computes_while_loading:
                _probe_layers(calls, left, story)
                story.facts += map(_describe_uncalled, calls.find_uncalled())
            run = _last_pass(model, left, request, recorder, self.feed)
            _probe_rest(run, model, calls, recorder, self.feed, story)
            story.facts += run_probes.probe_pass(run, recorder, model) if isinstance(run, Timeline) else []
            if not any(f.certain for f in story.select(FactKind.FUTURE)):  # which is how the label is reached then
                story.facts += _label_leaks(run, recorder if model.computes_while_loading else None, story.unchecked)
            entries = run.entries if isinstance(run, Timeline) else []
            story.facts += earlier.select_missing(story.facts, [e.loc for e in entries])
            story.facts += map(run_probes.describe_change, recorder.changes.values())
            story.unchecked += [why for why in dict.fromkeys(earlier.unchecked) if why not in story.unchecked]
            return Influences(model.about, story)

    def answer(self, model: Model, notes: Notes = SILENT) -> Influences:
        """As in the base: a model is loaded anew, for its calls have to be seen."""
        return self.ask(model.must_have_request("flow"), notes)


def _look_at_earlier(run: Timeline, unchecked: list[str]) -> Iterator[Fact]:
    """Yield what a pass shows that is not the last one."""
    yield from run_probes.find_facts(run, run_probes.find_learned(run))
    yield from _leaks(run, unchecked)


def _last_pass(
    model: Model, left: Loaded, request: Request, recorder: Recorder, feed: str | None
) -> Timeline | GradtoolError | CommandError:
    """The run that is asked about, or why there is none."""
    try:
        return type(model).timeline(left, request, recorder, Debug(feed=feed), SILENT)[0]
    except (CommandError, GradtoolError) as error:
        return error


def _label_leaks(
    run: Timeline | GradtoolError | CommandError, recorder: Recorder | None, unchecked: list[str]
) -> list[Fact]:
    """Labels that reach predictions, in the last pass of the file."""
    if recorder is not None and {c.op.type for c in recorder.calls}.isdisjoint(labels.COMPARING):
        return []
    if not isinstance(run, Timeline):
        unchecked.append(f"whether labels reach the prediction: {run.message}")
        return []
    return _leaks(run, unchecked)


def _leaks(run: Timeline, unchecked: list[str]) -> list[Fact]:
    return list(next_steps.find_seen_labels(run, unchecked)) or list(labels.leaks(run, unchecked))


def _probe_rest(
    run: Timeline | GradtoolError | CommandError,
    model: Model,
    calls: LayerCalls,
    recorder: Recorder,
    feed: str | None,
    story: FlowStory,
) -> None:
    """Ask what leads to predictions and is no call of a layer that was asked: all of it, where it is a program."""
    probe: Probe | str | None
    try:
        if not model.computes_while_loading:
            story.facts += run_probes.unread(model)
            probe = run_probes.probe_program(model, feed)
        elif isinstance(run, Timeline):
            asked = [c.layer for c in calls.predictors()[: layer_calls.MOST]]
            probe = run_probes.probe_without_layers(run, recorder, calls, asked, model)
        else:
            probe = run.message
        if isinstance(probe, Probe):
            known = {(f.kind, f.loc[:1]) for f in story.facts}  # the line: the calls around it are others
            story.facts += [f for f in _run_facts(probe, story.unchecked) if (f.kind, f.loc[:1]) not in known]
            story.calls.append(probe.name)
        elif probe is not None:
            story.no_calls = probe
    except (CommandError, GradtoolError) as error:
        story.unchecked.append(f"the flow of information to what {model.name} predicts: {error.message}")
        story.calls.append(model.name)


def _run_facts(probe: Probe, unchecked: list[str]) -> Iterator[Fact]:
    yield from randomness.find_draws(probe, unchecked)
    yield from _probe_facts(probe, unchecked)


def _probe_layers(calls: LayerCalls, left: Loaded, story: FlowStory) -> None:
    predictors = calls.predictors()
    for call in predictors[layer_calls.MOST :]:
        story.unchecked.append(f"the flow of information through {_name(call.layer, left)}, as one of too many layers")
    for call in predictors[: layer_calls.MOST]:
        name = _name(call.layer, left)
        story.calls.append(name)
        try:
            story.facts += _call_facts(call, name, left, calls, story.unchecked)
        except (ModelError, GradtoolError) as error:
            story.unchecked.append(f"the flow of information through {name} in evaluation mode: {error.message}")


def _call_facts(call: LayerCall, name: str, left: Loaded, calls: LayerCalls, unchecked: list[str]) -> Iterator[Fact]:
    probe = layer_calls.probe(call, name, left.name, calls.line_of)
    if not probe.outputs:
        return
    before = len(unchecked)
    yield from randomness.random(probe, unchecked)
    if len(unchecked) > before:
        return  # what differs by itself tells nothing
    yield from _probe_facts(probe, unchecked)


def _probe_facts(probe: Probe, unchecked: list[str]) -> Iterator[Fact]:
    rng = np.random.default_rng(0)
    yield from samples.find_mixing(probe, rng, unchecked)
    yield from order.future(probe, rng)
    without = list(inputs.find_unused(probe, rng, unchecked))
    yield from without
    if not without:  # of a mask that is not read it is known already what it does not hide
        yield from inputs.find_padding(probe, rng)


def _describe_uncalled(uncalled: UncalledLayer) -> Fact:
    message = f"self.{uncalled.name} of {uncalled.owner.__name__} is a {uncalled.kind.__name__} that is never called"
    place = callers.find_attribute(uncalled.owner, uncalled.name)
    return Fact(FactKind.UNCALLED, "", message, place, advice="call it in forward, or leave it out")


def _name(layer: Layer, left: Loaded) -> str:
    """Return the name of a layer for people: the name that it has in the file, else its class."""
    return next((n for n, v in left.namespace.items() if v is layer and not n.startswith("_")), type(layer).__name__)
