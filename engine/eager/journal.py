"""A journal of dynamic mode: every operator call, recorded on the tape or not, and how values left the tape.

The tape holds what gradients flow through and nothing else. Whoever asks why no gradient flows needs the rest as well:
calls under ``no_grad``, detached copies, values that went to NumPy and came back, gradients that were cleared. The
engine tells them (``watch.py``), and inside :func:`keep_journal` they are noted.

The journal holds numbers, not tensors, so what a program lets go of is let go of.
"""

from __future__ import annotations

import itertools
import sys
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from ..core import source, watch
from ..core.identity import identity
from ..core.source import Location
from ..ops.opdef import Trait
from ..ops.readings import flatten
from .journal_entries import (
    Call,
    DeepCopy,
    Event,
    Guard,
    ListedLeaves,
    Replacement,
    Unrecorded,
    find_passes,
    find_reason,
    is_flat,
)
from .parameter import TensorParameter
from .tape import GradNode
from .tensor import Leaf, Tensor

LIMIT = 1 << 18
"""Calls that are kept; of a longer program the first ones are forgotten."""


def _is_halted(t: Tensor | None) -> bool:
    """Return whether no gradient comes to an operand."""
    return t is None or bool(t._stop)


def _nobody() -> None:
    """Stands for the reference to a leaf that there is not."""


class Journal:
    """Events in order; a watcher of tensors for :func:`gradtool.engine.core.watch.watch`.

    Attributes:
        calls: the calls, oldest first.
        events: by the number of the value.
        entered: by the number of the value, where a tensor that an operator read was made from plain values.
        listings: the optimizers that were made.
        awaited: the leaves whose gradients processes wait for, as they were put together.
        replacements: by the number of a parameter that a layer held once.
        copies: by the number of a leaf, its deep copies, oldest first.
        differentiated: the values whose gradients have a graph themselves.
        whole_numbers: the values that were recorded on the tape and hold whole numbers or truth values.
        reaches: by the time of a call that flattens out, the least and the greatest element that it read.
        released: by the number of a leaf, the one that its tensor had before ``stop_gradient = False`` was set.
        chosen: by the number of a value, where the setting of a layer was given that makes it what it is.
        guards: by the time of a call that was not recorded, the guard that it was called under.
        dropped: by the time of a call, the user's line that drops its result.
        forgotten: how many calls were dropped for :data:`LIMIT`.
        end: the time of the last whole step of a program that was cut; None of any other.

    Args:
        spared: lines (file and number) at which nothing cuts gradients off: detach gives a copy, ``no_grad`` and
            ``stop_gradient = True`` do nothing.
        limit: how many calls are kept at least.
    """

    def __init__(self, spared: Iterable[tuple[str, int]] = (), limit: int = LIMIT) -> None:
        self.spared = frozenset(spared)
        self._limit = limit
        self.calls: list[Call] = []
        self.events: dict[int, list[Event]] = {}
        self.entered: dict[int, Location] = {}
        self.listings: list[ListedLeaves] = []
        self.awaited: list[ListedLeaves] = []
        self.replacements: dict[int, Replacement] = {}
        self.copies: dict[int, list[DeepCopy]] = {}
        self.differentiated: set[int] = set()
        self.whole_numbers: set[int] = set()
        self.reaches: dict[int, tuple[float, float]] = {}
        self.released: dict[int, int] = {}
        self.chosen: dict[int, Location] = {}
        self.guards: dict[int, Guard] = {}
        self.dropped: dict[int, Location] = {}
        self._open_guards: list[Guard] = []
        self.forgotten = 0
        self.end: int | None = None
        self._silent = 0
        self._time = 0
        self._places: dict[tuple[int, int], int] = {}
        self._leaves: dict[Leaf, int] = {}
        self._held: dict[int, tuple[int, Any]] = {}
        self._owners: dict[int, Any] = {}
        """By the version that a detached tensor shares with a leaf, a reference to that."""
        self._last: tuple[Any, int] = (None, 0)

    def __call__(self, event: Any) -> bool:
        """Note an event; of a cut, whether it is spared."""
        kind = type(event)
        if kind is watch.Updated:
            self._silent -= 1
        elif kind is watch.Updating:
            self._note_update(event)
        elif not self._silent:
            return bool(_NOTED[kind](self, event))
        return False

    # -- values ---------------------------------------------------------------------------------------------------

    def number(self, t: Tensor) -> int:
        """The number of what *t* holds now; a new one if it was not met before."""
        if t.node is not None:
            return self.place(t.node.key, t.index)
        if t._leaf is not None and t._leaf in self._leaves:
            return self._leaves[t._leaf]
        held = self._held.get(identity(t))
        number = self._give(t) if held is None else held[0]
        if t._leaf is not None:
            self._leaves[t._leaf] = number
        return number

    def place(self, key: int, index: int) -> int:
        """The number of output *index* of the node *key*."""
        number = self._places.get((key, index))
        if number is None:
            number = self._places[key, index] = self.tick()
        return number

    def tick(self) -> int:
        """The next moment, which is also the next number of a value."""
        self._time += 1
        return self._time

    def _give(self, t: Tensor, number: int | None = None) -> int:
        key, held = identity(t), self._held
        own = self.tick() if number is None else number
        held[key] = own, weakref.ref(t, lambda _: held.pop(key, None))
        return own

    def knows(self, t: Tensor, nodes: Iterable[GradNode]) -> bool:
        """Return whether the call that made *t* was noted, and those of the recorded *nodes* behind it are not
        forgotten.
        """
        node = t.node
        number = self._held.get(identity(t), (None,))[0] if node is None else self._places.get((node.key, t.index))
        if number is None or not any(number in call.writes for call in reversed(self.calls)):
            return False
        return not self.forgotten or {n.key for n in nodes} <= {call.key for call in self.calls}

    def tensors(self) -> Iterator[Tensor]:
        """The living parameters that were met, in the order in which they were."""
        held = [(number, reference()) for number, reference in self._held.values()]
        for _, t in sorted(((n, t) for n, t in held if isinstance(t, TensorParameter)), key=lambda pair: pair[0]):
            yield t

    def leaf(self, leaf: Leaf) -> int | None:
        """The number of a leaf that was met."""
        return self._leaves.get(leaf)

    def live_tensors(self) -> dict[int, Tensor]:
        """The tensors that are still there and not behind a node of the tape, by their numbers."""
        held = ((number, reference()) for number, reference in self._held.values())
        return {number: t for number, t in held if t is not None}

    def events_of(self, number: int, *kinds: str) -> list[Event]:
        """Return the events of some kinds of the value with a number, in their order."""
        return [e for e in self.events.get(number, ()) if e.kind in kinds]

    def made_at(self, numbers: Iterable[int]) -> dict[int, Location]:
        """Return where the values of these *numbers* were made, as far as that is known."""
        first = {self.released.get(number, number): number for number in numbers}
        places = {number: self.entered[n] for n, number in first.items() if n in self.entered}
        for call in self.calls:
            places.update((first[w], call.loc) for w in call.writes if w in first)
        return places

    def cut_after(self, t: Tensor) -> None:
        """Forget what came after *t* was made, and after the last gradient or update: of a step without an end."""
        number = self.number(t)
        whole = [call.time for call in self.calls if number in call.writes]
        whole += [e.time for events in self.events.values() for e in events if e.kind in ("added", "step")]
        self.end = end = max(whole, default=number)
        self.calls = [call for call in self.calls if call.time <= end]
        kept = ((n, [e for e in events if e.time <= end]) for n, events in self.events.items())
        self.events = {n: events for n, events in kept if events}
        self.listings = [x for x in self.listings if x.time <= end]
        self.awaited = [x for x in self.awaited if x.time <= end]

    def is_beyond_the_end(self, t: Tensor) -> bool:
        """Return whether *t* was met after the last whole step of a program that was cut."""
        if self.end is None or t.node is not None:
            return False
        number = self._leaves.get(t._leaf) if t._leaf is not None else None
        if number is None:
            number = self._held.get(identity(t), (0,))[0]
        return number > self.end

    def is_left_behind(self, number: int) -> bool:
        """Return whether a leaf got a gradient, and no call that was recorded later reads it."""
        added = [e.time for e in self.events.get(number, ()) if e.kind == "added"]
        if not added:
            return False
        later = itertools.takewhile(lambda call: call.time > added[-1], reversed(self.calls))
        return not any(call.key is not None and number in call.reads for call in later)

    def ancestors(self, targets: Iterable[Tensor]) -> set[int | None]:
        """The numbers of the values that *targets* were computed from, recorded or not, their own included."""
        return self.ancestors_of_values({self.number(t) for t in targets})

    def ancestors_of_values(self, targets: Set[int | None]) -> set[int | None]:
        """The numbers of the values that those with the numbers *targets* were computed from, these included."""
        numbers = set(targets)
        for call in reversed(self.calls):
            if not numbers.isdisjoint(call.writes):
                numbers.update(call.reads)
        numbers.discard(None)
        return numbers

    # -- what is noted --------------------------------------------------------------------------------------------

    def _note_birth(self, event: watch.Made) -> None:
        self._give(event.tensor)

    def _note_call(self, event: watch.Called) -> None:
        op, operands = event.op, event.operands
        read = flatten(operands, range(len(operands)))
        results = [t for t in flatten(event.results, range(len(event.results))) if t is not None]
        recorded = next((t.node.key for t in results if t.node is not None), None)
        unrecorded = find_reason(op, read, results) if recorded is None else None
        reads = [None if t is None else self.number(t) for t in read]
        passes = find_passes(op, operands)
        if op.trait & Trait.LIKE:
            reads = [None] * len(reads)  # it reads shapes and types alone
        elif op.trait & Trait.INTERNAL:
            # Gradient rules call these, and what they have no gradient for gives them a shape or a type alone.
            reads = [number if passed else None for number, passed in zip(reads, passes, strict=True)]
        writes = [self.number(t) if t.node is not None else self._give(t) for t in results]
        taken = tuple([t.node is not None for t in results])
        if recorded is not None:
            self.whole_numbers.update(w for t, w in zip(results, writes, strict=True) if t.array.dtype.kind in "biu")
        self._note(op.type, read, reads, writes, passes, taken, recorded, unrecorded)
        first = read[0] if read else None
        if recorded is not None and first is not None and is_flat(op.type, results):
            self._note_range(first.array)
        if results:
            self._last = results[0].array, writes[0]

    def _note_range(self, array: Any) -> None:
        if array.size and array.dtype.kind == "f":
            self.reaches[self._time] = float(array.min()), float(array.max())

    def _note_application(self, event: watch.Applied) -> None:
        reads = [self.number(t) for t in event.inputs]
        key, taken = event.node.key, event.taken
        writes = [
            self.place(key, j) if t else self.number(result)
            for j, (result, t) in enumerate(zip(event.outputs, taken, strict=True))
        ]
        unrecorded = None if any(taken) else Unrecorded.NO_RULE
        recorded = key if any(taken) else None
        passes = (True,) * len(reads)
        self._note(event.node.op.type, event.inputs, reads, writes, passes, taken, recorded, unrecorded)

    def _note_tape_copy(self, event: watch.Copied) -> None:
        sources, copy = event.given, event.made
        reads, passes = [self.number(t) for t in sources], (True,) * len(sources)
        writes = [self.number(copy) if copy.node is not None else self._give(copy)]
        self._note(event.how, sources, reads, writes, passes, (copy.node is not None,), None, Unrecorded.COPIED)
        self._last = copy.array, writes[0]
        for t in sources:
            if t._leaf is not None and t.version is copy.version:
                self._owners[identity(t.version)] = weakref.ref(t)

    def _set_aside(self, event: watch.SetAside) -> None:
        self._give(event.copy, self.number(event.tensor))

    def _note(
        self,
        type_: str,
        read: Sequence[Tensor | None],
        reads: Sequence[int | None],
        writes: Sequence[int],
        passes: tuple[bool, ...],
        taken: tuple[bool, ...],
        key: int | None,
        unrecorded: Unrecorded | None,
    ) -> None:
        halted = tuple(map(_is_halted, read))
        for t, number in zip(read, reads, strict=True):
            if t is not None and t.loc and number is not None:
                self.entered.setdefault(number, t.loc)
        site, time = source.site(sys._getframe(2)), self.tick()
        self.calls.append(Call(type_, tuple(reads), tuple(writes), passes, halted, taken, key, unrecorded, site, time))
        if unrecorded is Unrecorded.NO_GRAD and self._open_guards:
            self.guards[time] = self._open_guards[-1]
        if unrecorded is None or type_ == "detach":
            self._note_drop(time)
        if len(self.calls) >= 2 * self._limit:
            del self.calls[: self._limit]
            self._forget_before(self.calls[0].time)
            self.forgotten += self._limit

    def _note_drop(self, time: int) -> None:
        location = source.locate_drop(sys._getframe(3))
        if location:
            self.dropped[time] = location

    def _forget_before(self, time: int) -> None:
        """Let go of what is known about values that were met before *time* and are no more."""
        living = {number for number, _ in self._held.values()}
        living.update(self._leaves.values())
        self._places = {place: n for place, n in self._places.items() if n >= time}
        self.entered = {n: loc for n, loc in self.entered.items() if n >= time or n in living}
        self.events = {n: events for n, events in self.events.items() if n >= time or n in living}
        self.guards = {n: guard for n, guard in self.guards.items() if n >= time}
        self.dropped = {n: loc for n, loc in self.dropped.items() if n >= time}
        self.reaches = {n: reach for n, reach in self.reaches.items() if n >= time}
        self.differentiated = {n for n in self.differentiated if n >= time}
        self.whole_numbers = {n for n in self.whole_numbers if n >= time}

    def _event(self, kind: str, number: int, how: str, into: int | None = None) -> None:
        site = source.site(sys._getframe(2))
        self.events.setdefault(number, []).append(Event(kind, self.tick(), how, site, into))

    def _note_differentiation(self, event: watch.Differentiated) -> None:
        self.differentiated.update(map(self.number, event.tensors))

    def _note_departure(self, event: watch.Left) -> None:
        into = None if event.into is None else self.number(event.into)
        self._event("left", self.number(event.tensor), event.how, into)

    def _cuts(self, event: watch.Cutting) -> bool:
        if self.spared and source.file_and_line(source.here()) in self.spared:
            return True
        t = event.tensor
        if event.how != "detach" and t is not None and not t._stop:
            self._event("stopped", self.number(t), event.how)
        return False

    def _note_release(self, event: watch.Released) -> None:
        t = event.tensor
        if not t.persistable and (t._leaf is None or t._leaf not in self._leaves):
            # Whatever computed its values, gradients end in it from here on.
            before = self._held.get(identity(t))
            leaf = self._give(t)
            self.entered[leaf] = source.here()
            if before is not None:
                self.released[leaf] = before[0]
        elif any(e.kind == "stopped" for e in self.events.get(self.number(t), ())):
            self._event("thawed", self.number(t), "stop_gradient")

    def _note_accumulation(self, event: watch.Added) -> None:
        number = self._leaves.get(event.leaf)
        if number is not None:
            self._event("added", number, "backward", None if event.root is None else self.number(event.root))

    def _note_pass(self, event: Any) -> None:
        """Note a call that was reported before in parts."""

    def _note_clearing(self, event: watch.Cleared) -> None:
        if event.tensor.node is None:
            self._event("cleared", self.number(event.tensor), event.how)

    def _note_write(self, event: watch.Written) -> None:
        t = event.tensor
        if t.node is None and t._stop and not t.persistable:
            # The tensor holds something else from now on: what was just computed, or plain values.
            self._give(t, self._last[1] if event.array is self._last[0] else None)
        self._event("written", self.number(t), event.writer)
        owner = self._owners.get(identity(t.version), _nobody)()
        if owner is not None and owner is not t and owner.version is t.version:
            self._event("written", self.number(owner), event.writer)

    def _note_unfilled(self, event: watch.Unfilled) -> None:
        self._event("unfilled", self.number(event.tensor), "grad")

    def _note_choice(self, event: watch.Chosen) -> None:
        self.chosen[self.number(event.tensor)] = event.loc

    def _note_reuse(self, event: watch.Reused) -> None:
        self._event("reused", self.number(event.tensor), event.by)

    def _note_initialisation(self, event: watch.Initialised) -> None:
        self._event("initialised", self.number(event.tensor), event.writer)

    def _note_listing(self, event: watch.Listed) -> None:
        self.listings.append(ListedLeaves(frozenset(map(self.number, event.tensors)), source.here(), self.tick()))

    def _note_await(self, event: watch.Awaited) -> None:
        self.awaited.append(ListedLeaves(frozenset(map(self.number, event.tensors)), source.here(), self.tick()))

    def _note_copy(self, event: watch.DeepCopied) -> None:
        copy = DeepCopy(self.number(event.made), source.here())
        self.copies.setdefault(self.number(event.tensor), []).append(copy)

    def _note_replacement(self, event: watch.Replaced) -> None:
        here = source.here()
        for path, before in event.before.items():
            after = event.after.get(path)
            self.replacements[self.number(before)] = Replacement(None if after is None else self.number(after), here)

    def _open_guard(self, event: watch.Guarding) -> None:
        site = source.site(sys._getframe(2)) if event.site is None else event.site
        inside = event.enclosure
        if inside is None:
            self._open_guards.append(Guard(site))
        else:
            self._open_guards.append(Guard(site, inside.kind, inside.name, tuple(map(self.number, inside.tensors))))

    def _close_guard(self, event: watch.Guarded) -> None:
        # Watching may have begun inside a guard.
        if self._open_guards:
            self._open_guards.pop()

    def _note_update(self, event: watch.Updating) -> None:
        if not self._silent:
            for t in event.tensors:
                self._event("step", self.number(t), "step")
        self._silent += 1


_NOTED: dict[type, Callable[[Journal, Any], object]] = {
    watch.Made: Journal._note_birth,
    watch.Called: Journal._note_call,
    watch.Applied: Journal._note_application,
    watch.Copied: Journal._note_tape_copy,
    watch.Differentiated: Journal._note_differentiation,
    watch.SetAside: Journal._set_aside,
    watch.Left: Journal._note_departure,
    watch.Written: Journal._note_write,
    watch.Initialised: Journal._note_initialisation,
    watch.Unfilled: Journal._note_unfilled,
    watch.Cutting: Journal._cuts,
    watch.Released: Journal._note_release,
    watch.Added: Journal._note_accumulation,
    watch.Filled: Journal._note_pass,
    watch.Given: Journal._note_pass,
    watch.Cleared: Journal._note_clearing,
    watch.Listed: Journal._note_listing,
    watch.Awaited: Journal._note_await,
    watch.Replaced: Journal._note_replacement,
    watch.DeepCopied: Journal._note_copy,
    watch.Reused: Journal._note_reuse,
    watch.Chosen: Journal._note_choice,
    watch.Guarding: Journal._open_guard,
    watch.Guarded: Journal._close_guard,
    watch.Lent: lambda journal, event: None,  # no graph goes on from there
    watch.GradientMoved: lambda journal, event: None,  # values stay
    watch.Labelled: lambda journal, event: None,  # it freezes nothing
    watch.Switched: lambda journal, event: None,  # a mode moves no gradient
    watch.GradRead: lambda journal, event: None,  # no graph goes on from there
    watch.Scaled: lambda journal, event: None,  # the product is an operator like any other
    watch.Unscaled: lambda journal, event: None,
    watch.Limited: lambda journal, event: None,  # what it writes is told
    watch.Scheduled: lambda journal, event: None,  # a rate is no tensor
    watch.Advanced: lambda journal, event: None,
    watch.DataBegan: lambda journal, event: None,
}


_current: ContextVar[Journal | None] = ContextVar("gradtool_journal", default=None)

current = _current.get
"""The journal that is being kept, or None."""


@contextmanager
def keep_journal(spared: Iterable[tuple[str, int]] = (), journal: Journal | None = None) -> Iterator[Journal]:
    """Keep a journal of this thread (or task) inside the ``with`` block; one at a time.

    Args:
        spared: see :class:`Journal`.
        journal: the one to go on with, instead of a new one.

    >>> from gradtool import paddle
    >>> from gradtool.engine.eager.journal import keep_journal
    >>> with keep_journal() as journal:
    ...     x = paddle.to_tensor(2.0, stop_gradient=False)
    ...     y = (x * x).detach()
    >>> [call.type for call in journal.calls]
    ['elementwise_mul', 'detach']
    """
    running = current()
    if running is not None:
        yield running
        return
    journal = Journal(spared) if journal is None else journal
    _current.set(journal)
    try:
        with watch.watch(tensors=journal):
            yield journal
    finally:
        _current.set(None)  # no token: a notebook may leave in another context than it entered
