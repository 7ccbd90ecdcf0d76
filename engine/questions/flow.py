"""``flow``: whether one value of a model depends on another, and by which operators."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from ..answers.flow.change_propagation import upstream
from ..answers.flow.dependence import Index, ValueInfluence, find_influence
from ..core import watch
from ..core.answer import Answered
from ..core.command_errors import CommandError, unknown
from ..core.notes import SILENT, Notes
from ..core.records import dataclass
from ..kinds.about import About
from ..kinds.layer_calls import LayerCalls
from ..kinds.model import Model
from ..loading import loader, opening
from ..ops.opdef import Trait
from ..request.options import Debug
from ..request.request import Request
from ..runs.branch import Branch
from ..runs.recorder import Recorder
from ..runs.timeline import NOBODY, Timeline, is_made_up
from .question import Question

_MOST = 200
"""Pairs that one call asks about."""


@dataclass(frozen=True, slots=True)
class Part:
    """A value, or some of its elements.

    Attributes:
        text: as it was asked for: ``x[3]``.
        number: of the value.
        index: into it; None for all of it.
    """

    text: str
    number: int
    index: Index | None


@dataclass(frozen=True, slots=True)
class Flows(Answered):
    """Dependencies between values.

    Attributes:
        pairs: from, to, and what was found.
    """

    about: About
    pairs: Sequence[tuple[Part, Part, ValueInfluence]]


@dataclass(frozen=True, kw_only=True)
class Flow(Question[Flows]):
    """From where to where.

    Attributes:
        from_: values that are changed, ``x`` or ``x[3]``; everything that was given and is no parameter when empty.
        to: values that are looked at, ``out[1]``; the loss when empty.
        feed: a file of arrays to feed.
        step: which backward pass of a file that trains.
    """

    from_: tuple[str, ...] = ()
    to: tuple[str, ...] = ()
    feed: str | None = None
    step: int | None = None

    needs: ClassVar = {"journal": True}

    def ask(self, request: Request, notes: Notes = SILENT) -> Flows:
        """As in the base; the file is recorded while it runs."""
        recorder, calls = Recorder(which=self.step), LayerCalls()
        with recorder.record(), calls.note_calls(), loader.run_model(request, notes) as left, watch.pause_watchers():
            model = opening.model_in(left, request)
            run, _ = type(model).timeline(left, request, recorder, Debug(feed=self.feed, step=self.step), notes)
            _name(run, recorder, calls)
            return Flows(model.about, list(self._pairs(run, model)))

    def answer(self, model: Model, notes: Notes = SILENT) -> Flows:
        """As in the base: a model is loaded anew, so that it can be recorded."""
        return self.ask(model.must_have_request("flow"), notes)

    def _pairs(self, run: Timeline, model: Model) -> Sequence[tuple[Part, Part, ValueInfluence]]:
        ends = [_part(run, text) for text in self.to] or [_loss(run, model)]
        starts = [_part(run, text) for text in self.from_] or _inputs_before(run, ends)
        pairs = [(a, b) for a in starts for b in ends]
        if len(pairs) > _MOST:
            raise CommandError(
                f"{len(pairs)} pairs of values are too many: each of them computes the model again",
                f"--from and --to choose up to {_MOST} of them",
            )
        return [(a, b, find_influence(run, a.number, a.index, b.number, b.index)) for a, b in pairs]


def _name(run: Timeline, recorder: Recorder, calls: LayerCalls) -> None:
    """Have values answer to what layers call them, too: the parameters of ``forward``, and ``out`` for what it gave."""
    taken = set(run.names)
    for call in calls.outermost.values():
        for name, tensor in (*call.arguments(), *call.results()):
            number = recorder.find_number(tensor.array)
            if number is not None and name not in taken and number < len(run.values):
                taken.add(name)
                value = run.values[number]
                value.names = (*value.names, name)
                if is_made_up(value.name):
                    value.name = name
    run.__dict__.pop("_values_by_name", None)


def _loss(run: Timeline, model: Model) -> Part:
    if run.loss is None:
        raise CommandError(f"{model.name} has no loss", "--to names what is looked at")
    return Part(model.target_name() or run.values[run.loss].name, run.loss, None)


def _inputs_before(run: Timeline, ends: Sequence[Part]) -> list[Part]:
    """Return the values that were given and are no parameters, as far as they lead to *ends* or have a name."""
    reached = upstream(run, (e.number for e in ends))
    read = {n for e in run.entries if not e.backward for n in e.inputs}
    numbers = (n for n in sorted(reached | read) if n in read and run.values[n].role != "parameter")
    return [Part(run.values[n].name, n, None) for n in numbers if run.values[n].name and _is_given(run, n)]


def _is_given(run: Timeline, number: int) -> bool:
    """Return whether a value was there before the run, or was drawn at random; what a program keeps is its own."""
    maker = run.values[number].maker
    if maker == NOBODY:
        return run.lowered is None or run.values[number].name in run.lowered.fed
    op = getattr(run.entries[maker].origin, "op", None)
    return not run.entries[maker].inputs and bool(getattr(op, "trait", Trait(0)) & Trait.RANDOM)


def _part(run: Timeline, text: str) -> Part:
    """The value that *text* names, with the index after it.

    Raises:
        CommandError: there is no such value, or it has no such elements.
    """
    number = run.find(text, run.begin)
    if number is not None:
        return Part(text, number, None)
    match = re.fullmatch(r"(.+)\[([^\[\]]*)\]", text)
    number = None if match is None else run.find(match[1], run.begin)
    if match is None or number is None:
        raise unknown("value", text if match is None else match[1], run.names)
    index = tuple(_index(entry.strip(), text) for entry in match[2].split(","))
    array = np.asarray(Branch(run).make(number))
    try:
        chosen = array[index]
    except IndexError:
        raise CommandError(f"{text}: {match[1]} has the shape {list(array.shape)}") from None
    if not chosen.size:
        raise CommandError(f"{text} has no elements: {match[1]} has the shape {list(array.shape)}")
    return Part(text, number, index)


def _index(entry: str, text: str) -> Any:
    """One entry of an index: a number, a slice, or three dots."""
    if entry == "...":
        return ...
    numbers = entry.split(":")
    if len(numbers) > 3 or not all(re.fullmatch(r"-?\d+|", n) for n in numbers) or entry == "":
        raise CommandError(f"{text}: expected numbers, slices or ... in the brackets", "x[3], x[:, 2:5], x[..., 0]")
    if len(numbers) == 1:
        return int(entry)
    return slice(*(int(n) if n else None for n in numbers))
