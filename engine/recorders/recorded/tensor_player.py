"""Events of tensors: made, freed, copied, moved, given out and written."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ...core import source, watch
from ...core.names import UniqueNames
from ...eager.parameter import TensorParameter
from ...eager.tensor import Tensor, note_lent
from . import events
from .counterparts import Counterparts

_LENDING = frozenset({"numpy", "__array__", "__dlpack__"})
"""Methods that give an array of a tensor's own memory."""


class TensorPlayer:
    """Plays the events of tensors."""

    def __init__(self, counterparts: Counterparts) -> None:
        # Every event looks a tensor up: the table itself is at hand.
        self._counterparts, self._tensors = counterparts, counterparts.tensors
        self._names = UniqueNames()

    def handlers(self) -> Mapping[type, Callable[[Any], None]]:
        """Return the method that plays each type of event."""
        return {
            events.TensorMade: self._play_made,
            events.CopyMade: self._note_copy,
            events.ValueReused: self._note_reuse,
            events.Gone: self._play_gone,
            events.OverwriteBegan: self._play_writing,
            events.Detached: self._play_detached,
            events.ValuesTaken: self._play_left,
            events.MemoryLent: self._play_lent,
            events.GradientTaken: self._play_taken,
            events.MissingGradientRead: self._play_unfilled,
            events.Rebound: self._play_rebound,
            events.Requires: self._play_requires,
        }

    def _play_made(self, event: events.TensorMade) -> None:
        if event.parameter:
            t: Tensor = TensorParameter(event.array, event.name or self._names("parameter"), trainable=event.takes)
        else:
            t = Tensor(event.array, stop_gradient=not event.takes)
            t.loc = source.here()
        if event.gradient_of is not None:
            self._counterparts.set_gradient(self._tensors[event.gradient_of], event.array)
            if watch.noting:
                watch.note(watch.GradientMoved(self._tensors[event.gradient_of]))
            self._counterparts.grads[event.gradient_of] = event.tensor
        if event.shares is not None and event.shares in self._tensors:
            t._version = self._tensors[event.shares].version
        self._tensors[event.tensor] = t
        if event.lent:
            note_lent(t, "")

    def _play_gone(self, event: events.Gone) -> None:
        self._counterparts.of_data.pop(event.tensor, None)
        if event.tensor not in self._counterparts.pinned:
            self._tensors.pop(event.tensor, None)

    def _play_detached(self, event: events.Detached) -> None:
        t = self._tensors[event.tensor]
        if watch.noting and watch.note(watch.Cutting("detach", t)):
            self._tensors[event.made] = t  # spared: gradients go on
            return
        copy = Tensor(event.array, version=t.version if event.how == "detach" else None)
        if watch.noting:
            watch.note(watch.Copied("detach", (t,), copy))
        self._tensors[event.made] = copy
        self._counterparts.of_data[event.made] = self._counterparts.of_data.get(event.tensor, event.tensor)

    def _play_taken(self, event: events.GradientTaken) -> None:
        made = Tensor(event.array)
        made.loc = source.here()
        if watch.noting:
            watch.note(watch.Copied("grad", tuple(self._tensors[n] for n in event.roots), made))
        self._tensors[event.made] = made

    def _note_copy(self, event: events.CopyMade) -> None:
        if watch.noting:
            watch.note(watch.DeepCopied(self._tensors[event.tensor], self._tensors[event.made]))

    def _note_reuse(self, event: events.ValueReused) -> None:
        if watch.noting:
            watch.note(watch.Reused(self._tensors[event.tensor], event.by))

    def _play_rebound(self, event: events.Rebound) -> None:
        t = self._tensors[event.tensor]
        t.array = event.array
        if not event.how:  # the same values elsewhere
            return
        self._counterparts.note_written(event.tensor)
        if event.tensor in self._counterparts.grads.values():
            self._counterparts.grads = {leaf: n for leaf, n in self._counterparts.grads.items() if n != event.tensor}
        if not watch.noting:
            return
        source = None if event.source is None else self._tensors.get(event.source)
        if source is not None:
            watch.note(watch.Left(event.how, source, t))
        watch.note(watch.Written(t, t.array, event.how))

    def _play_unfilled(self, event: events.MissingGradientRead) -> None:
        if watch.noting:
            watch.note(watch.Unfilled(self._tensors[event.tensor]))

    def _play_left(self, event: events.ValuesTaken) -> None:
        if watch.noting:
            watch.note(watch.Left(event.how, self._tensors[event.tensor]))
        if event.how in _LENDING:
            note_lent(self._tensors[event.tensor], event.how)

    def _play_lent(self, event: events.MemoryLent) -> None:
        note_lent(self._tensors[event.tensor], event.how)

    def _play_requires(self, event: events.Requires) -> None:
        t = self._tensors[event.tensor]
        if event.how == events.RETAIN:
            t.retain_grads()
            return
        if isinstance(t, TensorParameter):
            if event.takes:
                t.stop_gradient = False
            else:
                t.trainable = False
            return
        t.stop_gradient = not event.takes
        if event.takes and not t.loc:
            t.loc = source.here()

    def _play_writing(self, event: events.OverwriteBegan) -> None:
        by = watch.watcher()
        if by is not None:  # the operator that writes has read what was there
            array = self._tensors[event.tensor].array
            self._counterparts.read[event.tensor] = array.copy()
            by(watch.Doubled(array, self._counterparts.read[event.tensor]))
        self._counterparts.announce_write(event.tensor)
