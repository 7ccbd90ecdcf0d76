"""The course of a training that runs static programs: each run of one with a backward part is a pass, and updates."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from ...core import source, state, watch
from ...executor.plan import Step
from ...ir import roles
from ...ir.program import Program
from ...ir.variable import Variable
from .. import magnitudes
from ..events import SlotArray, step_event
from .array_size import Extent, clip_factor, distance, norm
from .history import Track, Update
from .training_steps import Course

_MOST_KNOWN = 64
_CLIPS = "gradient_clip"
"""The name scope of operators that clip."""


class ProgramCourse:
    """Listens to runs of programs; operators are watched in those that have a backward part.

    Attributes:
        tracks: by the name of the parameter.
    """

    def __init__(self, course: Course) -> None:
        self.course = course
        self.tracks: dict[str, Track] = {}
        self._known: dict[Program, tuple[int, bool]] = {}
        self._stack = contextlib.ExitStack()
        self._number = 0
        self._raw: dict[str, Extent] = {}
        """Gradients of the run as backward made them, by parameter."""
        self._update: Update | None = None
        self._totals: list[tuple[float, float]] = []
        """Norms before and after clipping."""

    @contextlib.contextmanager
    def listen(self) -> Iterator[None]:
        """Inside, every run that this thread begins is heard."""
        with state.started.listen(self.began), state.ended.listen(self._stack.close):
            yield

    @property
    def has_heard(self) -> bool:
        """Return whether a program with a backward part was run."""
        return self._number > 0

    def all_tracks(self) -> list[Track]:
        """Every parameter of the programs that were run, those without gradients as well, in the programs' order."""
        tracks: dict[Track, None] = {}
        for program, (_, there) in self._known.items():
            for v in program.all_parameters() if there else ():
                tracks[self.tracks.setdefault(v.name, _make_track(v))] = None
        tracks.update(dict.fromkeys(self.tracks.values()))
        return [*tracks]

    def began(self, program: Any) -> None:
        """A program is about to run."""
        if not isinstance(program, Program) or not self._has_backward(program):
            return
        self._stack.enter_context(watch.watch(self))
        self._number += 1
        self._raw = {}
        self._update = None
        self._totals = []
        self._loc = source.here()
        self._begun = False
        self._loss: float | None = None

    def _has_backward(self, program: Program) -> bool:
        known = self._known.get(program)
        if known is None or known[0] != program.version:
            if len(self._known) >= _MOST_KNOWN:
                self._known.clear()
            there = any(roles.is_backward(op.role) for op in program.global_block().ops)
            known = self._known[program] = program.version, there
        return known[1]

    def __call__(self, event: Any) -> None:
        if not isinstance(event, Step):
            return
        op = event.op
        if op.role & roles.LOSS and not roles.is_backward(op.role):
            self._loss = _number_of(event.outputs[0]) if event.outputs else None
        elif op.role & roles.OPTIMIZE:
            if "Param" in op.op.input_index and "Grad" in op.op.input_index:
                self._note_update(event)
            elif _CLIPS in op.scope:
                self._clip(event)
        elif roles.is_backward(op.role) and op.role_var:
            self._note_arrival(event)

    def _pass(self) -> None:
        """The backward part of the run has begun: its loss is known by now."""
        if not self._begun:
            self._begun = True
            self.course.began(self._number, self._loc, self._loss)

    def _note_arrival(self, step: Step) -> None:
        """An operator made gradients of parameters, which is said in its ``op_role_var``."""
        self._pass()
        makes = {v.name: v.array for v in step_event(step).outputs}
        for parameter, gradient in zip(step.op.role_var[::2], step.op.role_var[1::2], strict=True):
            if gradient in makes:
                extent = Extent.measure(makes[gradient])
                self._raw[parameter] = extent
                self.course.note_arrival(self._track(step, parameter), extent)

    def _track(self, step: Step, parameter: str) -> Track:
        track = self.tracks.get(parameter)
        if track is None:
            v = step.op.block.program.global_block().vars.get(parameter)
            track = self.tracks[parameter] = _make_track(v) if v is not None else Track(parameter, ())
        return track

    def _note_update(self, step: Step) -> None:
        """An operator gives a parameter its new values."""
        event = step_event(step)
        reads = {v.slot: v for v in event.inputs}
        parameter, gradient = reads.get("Param"), reads.get("Grad")
        if parameter is None or gradient is None or parameter.name is None:
            return
        self._pass()
        track = self._track(step, parameter.name)
        if self._update is None:
            self._update = _make_update(step, reads.get("LearningRate"))
        if self.course.find_waiting(track) is None:
            self.course.note_arrival(track, Extent.measure(gradient.array))
        point = self.course.note_update([track], self._update, step.op.block.program)[track]
        if self._totals:
            before, after = (math.hypot(*norms) for norms in zip(*self._totals, strict=True))
            self._update.clipped = clip_factor(after, before)
        new = next((v.array for v in event.outputs if v.slot == "ParamOut"), None)
        point.weight = norm(parameter.array)
        point.update = distance(parameter.array, new) if new is not None else None

    def _clip(self, step: Step) -> None:
        """An operator of the clipping: where it makes a clipped gradient, that is compared with the plain one."""
        makes = {v.name: v.array for v in step_event(step).outputs}
        for parameter, gradient in zip(step.op.role_var[::2], step.op.role_var[1::2], strict=True):
            track = self.tracks.get(parameter)
            point = None if track is None else self.course.find_waiting(track)
            if point is None or gradient not in makes:
                continue
            before, after = point.gradient.norm, norm(makes[gradient])
            point.clipped = clip_factor(after, before)
            self._totals.append((before, after))


def _make_update(step: Step, rate: SlotArray | None) -> Update:
    """Return the update that an operator begins."""
    number = None if rate is None else _number_of(rate.array)
    return Update(step.op.type, step.op.loc, rate=number, **_origin(step, rate))


def _origin(step: Step, rate: Any) -> dict[str, Any]:
    """Return where a learning rate was made, and whether no scheduler changes it."""
    program = step.op.block.program
    variable = None if rate is None else program.global_block().vars.get(rate.name)
    if variable is None:
        return {}
    return {"made": variable.loc, "fixed": variable.name not in program.live and variable.op is None}


def _make_track(v: Variable) -> Track:
    name = getattr(v, "layer_path", None) or v.name
    return Track(name, tuple(v.shape), v.made_at, listed=True)


def _number_of(value: Any) -> float | None:
    array = magnitudes.plain(value)
    return float(np.real(array).reshape(())) if array.size == 1 and magnitudes.holds_numbers(array) else None
