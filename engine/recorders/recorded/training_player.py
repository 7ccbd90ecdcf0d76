"""Events of a training: modules, optimizers, scales of the loss, schedules and data."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ...core import deviations, state, watch
from ...eager.tape import LossScale
from ...eager.tensor import Tensor
from . import events
from .counterparts import Counterparts


class TrainingPlayer:
    """Plays the events of modules, optimizers and what drives them."""

    def __init__(self, counterparts: Counterparts) -> None:
        self._counterparts, self._tensors = counterparts, counterparts.tensors
        self._scales: list[LossScale] = []
        self._scheduled: set[frozenset[int]] = set()

    def handlers(self) -> Mapping[type, Callable[[Any], None]]:
        """Return the method that plays each type of event."""
        return {
            events.Uncompiled: self._note_compiler,
            events.OptimizerMade: self._play_listed,
            events.ProcessesJoined: self._play_awaited,
            events.UpdateBegan: self._play_updating,
            events.UpdateEnded: self._play_updated,
            events.ParametersReplaced: self._play_replaced,
            events.ModeSwitched: self._play_switched,
            events.ModuleLabelled: self._play_labelled,
            events.LossScaled: self._play_scaled,
            events.GradientsUnscaled: self._play_unscaled,
            events.GradientsClipped: self._play_limited,
            events.ScheduleMade: self._note_schedule,
            events.ScheduleStepped: self._note_schedule_step,
            events.DataPassBegan: self._note_data_pass,
        }

    def _play_replaced(self, event: events.ParametersReplaced) -> None:
        if watch.noting:
            before = {path: self._tensors[n] for path, n in event.before}
            watch.note(watch.Replaced(before, {path: self._tensors[n] for path, n in event.after}))

    def _play_switched(self, event: events.ModeSwitched) -> None:
        if watch.noting:
            watch.note(watch.Switched(tuple([self._tensors[n] for n in event.tensors]), event.training))

    def _play_labelled(self, event: events.ModuleLabelled) -> None:
        if watch.noting:
            watch.note(watch.Labelled(tuple([self._tensors[n] for n in event.tensors]), event.text))

    def _play_listed(self, event: events.OptimizerMade) -> None:
        if watch.noting:
            watch.note(watch.Listed(tuple([self._tensors[n] for n in event.tensors])))

    def _play_awaited(self, event: events.ProcessesJoined) -> None:
        if watch.noting:
            watch.note(watch.Awaited(tuple([self._tensors[n] for n in event.tensors])))

    def _play_scaled(self, event: events.LossScaled) -> None:
        loss, scaled = self._tensors[event.loss], self._tensors[event.scaled]
        if scaled.node is not None:
            scaled.node.loss_scale = LossScale(event.scale)
            self._scales.append(scaled.node.loss_scale)
        watch.note_scale(watch.Scaled(loss, scaled, event.scale))

    def _play_unscaled(self, event: events.GradientsUnscaled) -> None:
        for scale in self._scales:
            scale.is_taken_off = True
        self._scales.clear()
        tensors = tuple([self._tensors[n] for n in event.tensors])
        watch.note_scale(watch.Unscaled(tensors, event.scale, event.finite))

    def _play_limited(self, event: events.GradientsClipped) -> None:
        if watch.noting:
            watch.note(watch.Limited(tuple([self._tensors[n] for n in event.tensors]), event.by))

    def _play_updating(self, event: events.UpdateBegan) -> None:
        tensors = tuple([self._tensors[n] for n in event.tensors])
        for n in event.tensors:
            self._counterparts.announce_write(n)
        state.updating.note(tensors)
        state.taken.note([(t, t._leaf.grad) for t in tensors if t._leaf is not None and t._leaf.grad is not None])
        if watch.noting:
            watch.note(watch.Updating(tensors, event.by, event.rate, frozenset(event.tensors) not in self._scheduled))

    def _note_schedule(self, event: events.ScheduleMade) -> None:
        self._scheduled.add(frozenset(event.tensors))
        if watch.noting:
            tensors = tuple([self._tensors[n] for n in event.tensors])
            about = event.length, tuple(event.parts), event.rate, event.base
            watch.note(watch.Scheduled(event.schedule, event.by, tensors, *about))

    def _note_schedule_step(self, event: events.ScheduleStepped) -> None:
        if watch.noting:
            watch.note(watch.Advanced(event.schedule, event.rate, event.jumped))

    def _note_data_pass(self, event: events.DataPassBegan) -> None:
        if watch.noting:
            watch.note(watch.DataBegan(event.data))

    def _play_updated(self, event: events.UpdateEnded) -> None:
        for n, array in event.values:
            t = self._tensors[n]
            if not np.may_share_memory(t.array, array):
                self._follow(t, array)
            self._counterparts.report_write(n)
            t.version.wrote("step")
        if watch.noting:
            watch.note(watch.Updated())

    @staticmethod
    def _follow(t: Tensor, array: Any) -> None:
        """Take over values that the framework wrote where it shares no memory with *t*."""
        if t.array.flags.writeable:
            np.copyto(t.array, array)
        else:
            t.array = array

    def _note_compiler(self, event: events.Uncompiled) -> None:
        deviations.note("uncompiled")
