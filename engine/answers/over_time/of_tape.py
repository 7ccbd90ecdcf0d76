"""The course of a training in dynamic mode, from what becomes of tensors: nothing is computed but small numbers."""

from __future__ import annotations

import contextlib
import math
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from ...core import source, state, watch
from ...core.identity import identity
from ...core.listeners import handles
from ...core.source import NOWHERE, Location
from ...eager.parameter import TensorParameter, live_parameters, parameters_at
from ...eager.tensor import Leaf, Tensor, writes
from .. import magnitudes
from .array_size import Extent, clip_factor, distance, factor, norm
from .history import Clearing, HistoryPoint, Track, Update, Writing
from .training_steps import Course

_FAR = 10.0
"""New values that are so many norms away from those before have nothing to do with them."""

_AS_FAR = 0.01
"""How much two ways may differ, in terms of one, to be as long as each other."""

_SCRIPT = "the script"
"""Who updates by hand."""

Named = Callable[[], Iterable[tuple[str, Tensor]]]
"""What the functions that are running call their tensors."""


class TapeCourse:
    """Listens to dynamic mode; of gradients and weights it keeps norms and counts alone.

    Args:
        course: takes what it hears.
        named: is asked for leaves that are no parameters: a name that is bound anew may go on as the same weight.

    Attributes:
        tracks: by leaf.
        clearings: of gradients that an optimizer was to update by.
    """

    def __init__(self, course: Course, named: Named) -> None:
        self.course = course
        self.tracks: weakref.WeakKeyDictionary[Leaf, Track] = weakref.WeakKeyDictionary()
        self.clearings: list[Clearing] = []
        self._named = named
        self._offered: weakref.WeakSet[Leaf] | None = None
        """The leaves of the parameters that there were when an optimizer was made; None where none was."""
        self._made: dict[frozenset[int], Location] = {}
        """By what an optimizer holds, where it was made."""
        self._number = 0
        self._parameters = False
        """Whether a parameter has got a gradient."""
        self._begun: tuple[int, Location, float | None] | None = None
        """A pass of ``grad``, which counts if it is of parameters."""
        self._used: set[Track] = set()
        """Whose gradient an update has taken, and nothing cleared."""
        self._stale: set[Track] = set()
        self._lost: dict[Track, tuple[int, Location]] = {}
        """Whose gradient was cleared before an update took it: the pass that had given it, and where it was cleared."""
        self._left: dict[Track, tuple[weakref.ref[Tensor], int]] = {}
        """The ``.grad`` as backward left it, and how often it was written by then."""
        self._due: dict[Track, HistoryPoint] | None = None
        """What the optimizer that is running updates."""
        self._update: Update | None = None
        self._by_hand: Update | None = None
        """What the script itself updates between two passes."""
        self._written: dict[Track, HistoryPoint] = {}
        self._plain: dict[str, tuple[Track, Any]] = {}
        """Leaves that are no parameters: name -> track and values."""
        self._derived: dict[int, tuple[weakref.ref[Tensor], Track]] = {}
        """Tensors that were computed from these without being recorded."""
        self._in_numpy: set[Track] = set()
        """Of these, whose values went to NumPy."""

    @contextlib.contextmanager
    def listen(self) -> Iterator[None]:
        """Inside, everything that this thread does is heard."""
        outer = writes.get()

        def before(tensor: Tensor, array: Any) -> None:
            self._write(tensor, array)
            if outer is not None:
                outer(tensor, array)

        token = writes.set(before)
        try:
            with watch.watch(tensors=self), state.passes.listen(self.began):
                yield
        finally:
            writes.reset(token)

    def __call__(self, event: Any) -> None:
        heard = _HANDLERS.get(type(event))
        if heard is not None:
            heard(self, event)

    # -- passes -----------------------------------------------------------------------------------------------------

    def began(self, roots: Sequence[Tensor], how: str, recorded: bool, *_: object) -> None:
        """A backward pass begins."""
        if not roots:
            return
        self._number += 1
        self._by_hand = None
        self._written.clear()
        begun = self._number, source.here(), _number_of(roots[0])
        if how == "backward":
            self.course.began(*begun)
        else:
            self._begun = begun

    def _note_addition(self, event: watch.Added) -> None:
        track = self.tracks.get(event.leaf)
        if track is None or track not in self._used:
            return
        grad = event.leaf.grad
        if grad is None or event.leaf.cleared or not np.count_nonzero(magnitudes.plain(grad.array)):
            self._used.discard(track)
            self._stale.discard(track)
        else:
            self._stale.add(track)

    def _note_filling(self, event: watch.Filled) -> None:
        strange = [leaf for leaf in event.leaves if leaf not in self.tracks]
        if strange:
            self._meet(strange)
        for leaf in event.leaves:
            track, grad = self.tracks.get(leaf), leaf.grad
            if track is not None and grad is not None:
                self.course.note_arrival(track, Extent.measure(grad.array), track in self._stale)
                self._lost.pop(track, None)
                self._left[track] = weakref.ref(grad), grad.inplace_version

    def _note_gift(self, event: watch.Given) -> None:
        begun, self._begun = self._begun, None
        pairs = [
            (t, g)
            for t, g in zip(event.inputs, event.gradients, strict=True)
            if g is not None and g.node is None and isinstance(t, TensorParameter)
        ]
        if begun is None or not pairs:
            return
        self.course.began(*begun)
        for t, g in pairs:
            self.course.note_arrival(self._track_parameter(t), Extent.measure(g.array))

    def _note_clearing(self, event: watch.Cleared) -> None:
        track = self._track_of(event.tensor)
        if track is not None:
            point = self.course.find_waiting(track)
            if point is not None:
                self._lost[track] = point.backward, source.here()
            self.course.note_clear(track)
            self._used.discard(track)
            self._stale.discard(track)

    # -- leaves -----------------------------------------------------------------------------------------------------

    def _track_of(self, t: Tensor | None) -> Track | None:
        return None if t is None or t._leaf is None else self.tracks.get(t._leaf)

    def _track_parameter(self, t: Tensor) -> Track:
        track = self.tracks.get(t.leaf)
        if track is None:
            name = getattr(t, "layer_path", None) or t.name
            self._parameters = self._parameters or isinstance(t, TensorParameter)
            offered = self._offered is None or t.leaf in self._offered
            is_parameter = isinstance(t, TensorParameter)
            track = self.tracks[t.leaf] = Track(name, tuple(t.array.shape), t.loc, is_parameter, offered)
        return track

    def _meet(self, leaves: Sequence[Leaf]) -> None:
        """Give leaves that were not met before their tracks: parameters, and others that somebody has a name for."""
        parameters = parameters_at(set(leaves))
        for parameter in parameters.values():
            self._track_parameter(parameter)
        others = {leaf for leaf in leaves if leaf not in parameters}
        if self._parameters or not others:
            return  # where there are parameters, other leaves are data: those of an optimizer are known already
        for name, t in self._named():
            if t._leaf in others and t.node is None:
                others.discard(t._leaf)
                self._meet_named(name, t)

    def _meet_named(self, name: str, t: Tensor) -> None:
        """A leaf that is no parameter: a new one, or what its name stood for before, taken through NumPy."""
        before = self._plain.get(name)
        goes_on = before is not None and before[0] in self._in_numpy and before[0].shape == tuple(t.array.shape)
        if before is not None and goes_on and self._is_weight(before[0]):
            track, values = before
            self._note_renewal(track, values, t, keep=1)
        else:
            track = Track(name, tuple(t.array.shape), t.loc)
        self._plain[name] = track, t.array
        self.tracks[t.leaf] = track

    def _note_release(self, event: watch.Released) -> None:
        """A tensor becomes a leaf: if it was computed from a weight, it goes on as that weight."""
        released: Tensor = event.tensor
        reference, track = self._derived.get(identity(released), (None, None))
        if track is None or reference is None or reference() is not released or not self._is_weight(track):
            return
        name, values = next(((n, v) for n, (t, v) in self._plain.items() if t is track), (None, None))
        if name is not None:
            self._note_renewal(track, values, released)
            self._plain[name] = track, released.array
            self.tracks[released.leaf] = track

    def _note_renewal(self, track: Track, values: Any, t: Tensor, keep: int = 0) -> None:
        """Another tensor stands for a weight from now on."""
        for point in self.course.note_update([track], self._hand(), _SCRIPT, keep).values():
            point.weight, point.update = norm(values), distance(values, t.array)
        self._used.discard(track)
        self._in_numpy.discard(track)

    def _note_export(self, event: watch.Left) -> None:
        track = self._track_of(event.tensor)
        if track is not None and any(t is track for t, _ in self._plain.values()):
            self._in_numpy.add(track)

    def _note_call(self, event: watch.Called) -> None:
        if not self._plain:
            return
        results = [t for t in event.results if isinstance(t, Tensor)]
        self._derive([t for t in event.operands if isinstance(t, Tensor)], results)

    def _note_copy(self, event: watch.Copied) -> None:
        if self._plain:
            self._derive(event.given, [event.made])

    def _derive(self, operands: Iterable[Tensor], results: Iterable[Tensor]) -> None:
        """Note results that were computed from a weight and have its shape; of what else does not matter."""
        for t in operands:
            track = self._track_of(t)
            if track is None and identity(t) in self._derived and self._derived[identity(t)][0]() is t:
                track = self._derived[identity(t)][1]
            if track is not None:
                for result in results:
                    if tuple(result.array.shape) == track.shape:
                        self._note_derived(result, track)
                return

    def _note_derived(self, t: Tensor, track: Track) -> None:
        derived, key = self._derived, identity(t)
        derived[key] = weakref.ref(t, lambda _: derived.pop(key, None)), track

    def _is_weight(self, track: Track) -> bool:
        """Return whether what the script writes there is an update.

        Where there are parameters, other leaves are data.
        """
        return track.listed or not self._parameters

    def _note_cut(self, event: watch.Cutting) -> None:
        track = self._track_of(event.tensor)
        if track is not None and event.how in ("stop_gradient", "trainable"):
            track.cuts.append((len(self.course.steps) + 1, source.here()))

    def _note_list(self, event: watch.Listed) -> None:
        """An optimizer was made: what it holds are weights, parameters or not."""
        self._offered = weakref.WeakSet() if self._offered is None else self._offered
        self._offered.update(p.leaf for p in live_parameters())
        self._made[frozenset(map(identity, event.tensors))] = source.here()
        for t in event.tensors:
            if not t._stop and t.node is None:
                self._track_parameter(t)

    # -- updates ----------------------------------------------------------------------------------------------------

    def _begin_update(self, event: watch.Updating) -> None:
        made = self._made.get(frozenset(map(identity, event.tensors)), NOWHERE)
        self._update = Update(event.by, source.here(), rate=event.rate, made=made)
        due: list[Track] = []
        back: dict[Track, HistoryPoint] = {}
        for t in event.tensors:
            leaf = t._leaf
            if leaf is None or leaf.grad is None or t._stop:
                continue
            track = self._track_parameter(t)
            if self.course.find_waiting(track) is None and self._is_back(track):
                back[track] = self._written[track]
            elif self._is_due(track, leaf.grad):
                due.append(track)
        # An optimizer may be made anew for every step, so it is its parameters that say what a step is.
        self._due = self.course.note_update(due, self._update, self._update)
        self._used.update(due)
        if back and not due:
            self._due = back
            self.course.steps[-1].updates.append(self._update)
        elif not due:
            self._lack(event.tensors)

    def _is_back(self, track: Track) -> bool:
        """Return whether the script has just taken *track* back to where it was before it moved it by hand.

        Then it was moved for a look at the loss there, and the update is what follows (sharpness-aware minimisation).
        """
        steps = self.course.steps
        if track not in self._written or len(steps) < 2 or track not in steps[-2].points:
            return False
        there, back = steps[-2].points[track].update, self._written[track].update
        return there is not None and back is not None and abs(there - back) <= _AS_FAR * there

    def _lack(self, tensors: Iterable[Tensor]) -> None:
        """An optimizer has nothing to update by: note it if that is because it was cleared."""
        tracks = [t for t in map(self._track_of, tensors) if t is not None and t in self._lost]
        if tracks:
            number, loc = self._lost[tracks[0]]
            self.clearings.append(Clearing(number, tuple(tracks), loc))
            for track in tracks:
                del self._lost[track]

    def _is_due(self, track: Track, grad: Tensor) -> bool:
        """Return whether an update of *track* by *grad* counts; what waits for it then says how large it is."""
        point = self.course.find_waiting(track)
        reference, version = self._left.get(track, (None, 0))
        same = reference is not None and reference() is grad and grad.inplace_version == version
        if point is not None and same:
            return True
        gradient = Extent.measure(grad.array)
        if point is None:
            if gradient.all_zero:
                return False  # it was cleared: momentum alone moves the weight
            self.course.note_arrival(track, gradient, stale=track in self._used)
            point = self.course.find_waiting(track)
            assert point is not None
            point.passes = 0
        else:
            point.gradient, point.changed = gradient, factor(gradient.norm, point.gradient.norm)
        return True

    def _note_clip(self, event: watch.Clipped) -> None:
        if self._due is None or self._update is None:
            return
        after: list[float] = []
        before: list[float] = []
        gradients = {identity(t): g for t, g in event.clipped if g is not None}
        for t, g in event.pairs:
            track = self._track_of(t)
            clipped = gradients.get(identity(t))
            point = None if track is None else self._due.get(track)
            if point is None or clipped is None:
                continue
            size = point.gradient.norm if clipped is g else norm(clipped.array)
            point.clipped = clip_factor(size, point.gradient.norm)
            before.append(point.gradient.norm)
            after.append(size)
        self._update.clipped = clip_factor(math.hypot(*after), math.hypot(*before))

    def _note_update(self, event: watch.Updated) -> None:
        self._due = self._update = None

    def _write(self, tensor: Tensor, array: Any) -> None:
        """The values of *tensor* are about to be overwritten."""
        track = self._track_of(tensor)
        if track is None or array is None:
            return
        if self._due is not None:
            point = self._due.get(track)
        else:
            point = self._written.get(track)
            if point is None and self._is_weight(track):
                point = self.course.note_update([track], self._hand(), _SCRIPT).get(track)
                self._used.update([track] if point is not None else [])
        if point is None:
            if self._due is None:
                self._overwritten(track, tensor.array, array)
            return
        if self._due is None:
            self._written[track] = point
        if point.weight is None:
            point.weight = norm(tensor.array)
        point.update = (point.update or 0.0) + distance(tensor.array, array)

    def _overwritten(self, track: Track, before: Any, after: Any) -> None:
        """Note new values that are no update, if they are far from those before."""
        size, way = norm(before), distance(before, after)
        if size > 0 and way > _FAR * size:
            track.writes.append(Writing(len(self.course.steps), way / size, source.here()))

    def _hand(self) -> Update:
        """The update that the script itself makes, of one parameter after another; told is the first line."""
        if self._by_hand is None:
            self._by_hand = Update("", source.here(), hand=True)
        return self._by_hand


def _number_of(root: Tensor) -> float | None:
    """Return what a root is, if it is one number."""
    array = magnitudes.plain(root.array)
    return float(array.reshape(())) if array.size == 1 and magnitudes.holds_numbers(array) else None


_HANDLERS: dict[type, Callable[[TapeCourse, Any], None]] = {
    watch.Added: TapeCourse._note_addition,
    watch.Filled: TapeCourse._note_filling,
    watch.Given: TapeCourse._note_gift,
    watch.Cleared: TapeCourse._note_clearing,
    watch.Called: TapeCourse._note_call,
    watch.Copied: TapeCourse._note_copy,
    watch.Left: TapeCourse._note_export,
    watch.Released: TapeCourse._note_release,
    watch.Cutting: TapeCourse._note_cut,
    watch.Listed: TapeCourse._note_list,
    watch.Updating: TapeCourse._begin_update,
    watch.Clipped: TapeCourse._note_clip,
    watch.Updated: TapeCourse._note_update,
}
handles(*_HANDLERS)(TapeCourse.__call__)
