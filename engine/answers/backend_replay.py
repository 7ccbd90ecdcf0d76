"""Computation of dynamic mode on the backend in use.

Dynamic mode computes on the reference, whatever is chosen. Where the backend in use compiles, what happens is noted
with a number for every value, as a recorder notes it. When a backward pass is over, its operators and those before it
are computed once more as one program on that backend, and listeners are told of the same operators in the same order,
with the values that came of it. What only the run itself knows (the user's own Python, random numbers, what was
overwritten from outside) stays what it was there.

What comes before a pass is kept for the pass after it: graphs are gone through twice, and a file may run backward
itself. What is older is data.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from functools import partial
from typing import Any, Protocol

from ..core import source, watch
from ..core.identity import identity
from ..core.summary import Asked, Took, Uneventful
from ..eager.passes import Pass
from ..executor.plan import Step
from ..kernels.backend import Backend
from ..kernels.choice import current
from ..runs import backend_run, wiring
from ..runs.calls import PassRecord, Pull, flat
from ..runs.ledger import stand_guard
from ..runs.numbering import Numbering
from ..runs.recorder import active_hooks
from ..runs.timeline import NOBODY, Entry, FixedOperand
from ..view.graph import BACKWARD, FORWARD
from .events import Adapter, Begin, End, Listener, OpEvent
from .gradient_operator import DifferentiatedOperator

Place = Any


class Telling(Protocol):
    """A source of events for a listener."""

    def __call__(self, event: Any) -> Any: ...

    def finish(self) -> None:
        """Nothing more happens."""

    def defer(self, act: Callable[..., None]) -> Callable[..., None]:
        """Return what calls *act* between the events that are told before and after it."""

    def settle(self, gradients: Mapping[Place, Any]) -> dict[Place, Any]:
        """The gradients of the last pass by their places, as they are told."""


_noting: ContextVar[Retelling | None] = ContextVar("gradtool_retelling", default=None)

noting_now = _noting.get
"""Who notes what this thread computes, or None."""


_as_it_was: ContextVar[bool] = ContextVar("gradtool_as_it_was", default=False)


@contextmanager
def as_it_was() -> Iterator[None]:
    """Inside, the run itself is told: for answers about its memory and its time, whatever computes it again."""
    token = _as_it_was.set(True)
    try:
        yield
    finally:
        _as_it_was.reset(token)


@contextmanager
def note_computation() -> Iterator[Retelling | None]:
    """Note what is computed inside, for who is going to ask :func:`hear`; None where the reference's values are told.

    Whoever is noting already goes on.
    """
    retelling = _noting.get()
    if _as_it_was.get():
        yield None
        return
    if retelling is not None or not current().compiles:
        yield retelling
        return
    stand_guard()
    retelling = Retelling(current())
    token = _noting.set(retelling)
    try:
        yield retelling
    finally:
        _noting.reset(token)


@contextmanager
def hear(listener: Listener | None) -> Iterator[Telling]:
    """Tell *listener* of what is computed inside, with the values of the backend in use.

    Args:
        listener: None where nobody is to be told, but the gradients are asked for.
    """
    with note_computation() as retelling:
        telling: Telling = Adapter(listener or _nobody) if retelling is None else retelling
        with watch.watch(telling):
            if retelling is None:
                yield telling
                return
            with retelling.report_to(listener or _nobody):
                yield telling


def _nobody(event: Any) -> None:
    """Hears nothing."""


def sweep(work: Pass, look: Callable[[DifferentiatedOperator], None]) -> None:
    """Carry out a backward pass over a tape, of which nobody else hears.

    Args:
        look: called with each operator that was differentiated, in their order, with the values of the backend in use.
    """
    with note_computation() as retelling, watch.pause_watchers():
        if retelling is None:
            with watch.watch(lambda event: _as_computed(work, event, look)):
                work.run()
            return
        with retelling.report_to(_nobody), retelling.look_at(look), watch.watch(retelling):
            work.run()


def _as_computed(work: Pass, event: Any, look: Callable[[DifferentiatedOperator], None]) -> None:
    if not isinstance(event, watch.Pulled):
        return
    node, wrt = event.node, event.wrt
    again = None if _is_users(node) else lambda arriving: work.pull(node, arriving, wrt)
    look(DifferentiatedOperator(node, wrt, event.arriving, event.gradients, node.retained, again))


class Retelling(Numbering):
    """A watcher that tells what *backend* makes of what it hears.

    Attributes:
        computed: how many operators were computed there.
        own: where the user's own Python stood among them, whose results are what they were.
    """

    def __init__(self, backend: Backend) -> None:
        super().__init__(None)
        self.backend = backend
        self.computed = 0
        self.own: dict[str, None] = {}
        self._listener: Listener | None = None
        self._programs: Adapter | None = None
        """Tells the steps of static programs, which the backend computes anyway."""
        self._events = Adapter(self._note)
        self._told: list[tuple[Any, list[int | None]]] = []
        """What is to be told, each event with the numbers of its arrays."""
        self._entries: list[Entry] = []
        self._before: list[Entry] = []
        """Those before the pass that ended last."""
        self._done: set[int] = set()
        """Values that are those of the backend."""
        self._parts: dict[int, tuple[int, int]] = {}
        self._passes: list[PassRecord | None] = []
        """Those that run, the inner one last; None for one that is itself recorded."""
        self._totals: dict[Place, int] = {}
        self._ended_at = self._dropped = 0
        """How many numbers there were when the last pass ended, and when the one before did."""
        self._places: dict[int, int] = {}
        """Of a gradient operator that is told now, the numbers of arrays by their identity."""
        self._look: Callable[[DifferentiatedOperator], None] | None = None

    # -- who is told --------------------------------------------------------------------------------------------------

    @contextmanager
    def report_to(self, listener: Listener) -> Iterator[None]:
        """Tell *listener* of what happens inside."""
        before = self._listener, self._programs
        self._listener, self._programs = listener, Adapter(listener)
        try:
            yield
            self.finish()
        finally:
            self._told.clear()
            self._listener, self._programs = before

    @contextmanager
    def look_at(self, look: Callable[[DifferentiatedOperator], None]) -> Iterator[None]:
        """Have *look* called with each gradient operator of the passes inside, when they are over."""
        self._look = look
        try:
            yield
            self.finish()
        finally:
            self._look = None

    @property
    def summary_needs(self) -> Asked | None:
        """Return what the listener needs of static programs in place of arrays."""
        return None if self._programs is None else self._programs.summary_needs

    @property
    def hears_programs(self) -> bool:
        """Return whether anybody is told of the steps of static programs."""
        return self._programs is not None

    def defer(self, act: Callable[..., None]) -> Callable[..., None]:
        """Return what calls *act* when what has happened until then is told."""
        return lambda *args: self._told.append((lambda: act(*args), []))

    def finish(self) -> None:
        """Tell what has not been told yet."""
        self._tell()
        if self._programs is not None:
            self._programs.finish()

    def settle(self, gradients: Mapping[Place, Any]) -> dict[Place, Any]:
        """The gradients of the last pass by their places, from the backend where it computed them."""
        numbers = {place: self._total(place, array) for place, array in gradients.items()}
        self._compute({n for n in numbers.values() if n is not None})
        return {place: self._array(numbers[place], array) for place, array in gradients.items()}

    def _total(self, place: Place, array: Any) -> int | None:
        number = self._totals.get(place)
        return self._store.find_number(getattr(array, "array", array)) if number is None else number

    def _array(self, number: int | None, array: Any) -> Any:
        """The array of that number, the backend's or what it was before it was overwritten; else the one that is."""
        return array if number is None or number not in self._store else self._store.get(number)

    # -- what happens -------------------------------------------------------------------------------------------------

    def __call__(self, event: Any) -> None:
        note = _NOTED.get(type(event))
        if note is not None:
            note(self, event)
        elif self._programs is not None and isinstance(event, (Step, Uneventful, watch.Entered, watch.Exited)):
            self._tell()
            self._programs(event)

    def _note_computed(self, event: watch.Computed) -> None:
        self._number_computed(event)
        call = self._calls[-1]
        entry = self._entry(event.op.type, FORWARD, event.loc, call)
        wiring.forward(entry, call, self._store)
        self._events(event)

    def _note_doubled(self, event: watch.Doubled) -> None:
        self._number_copy(event)

    def _note_began(self, event: watch.Began) -> None:
        self._passes.append(self._last)
        self._last = None if event.recorded else PassRecord(event.roots)
        if self._last is not None:
            for place, gradient in event.seeds.items():
                self._last.totals[place] = self._last.seeds[place] = self._number(_plain(gradient))
        self._events(event)

    def _note_pulled(self, event: watch.Pulled) -> None:
        work, node = self._last, event.node
        if work is None or event.recorded:  # its rule was computed on tensors, operator by operator
            self._events(event)
            return
        self._hooked[identity(event)] = hooks = active_hooks(node) if node.hooks is not None else {}
        self._note_pull(event)
        pull = work.events.pop()
        assert isinstance(pull, Pull)
        work.events.clear()
        entry = self._note_entry(node, pull)
        if hooks or _is_users(node):
            self.own[_describe_own(node, bool(hooks))] = None
        # Sums and what hooks gave are no results of operators: their arrays have these numbers here alone.
        self._places = _number_arrays(event, pull)
        self._events(event)
        self._places = {}
        if self._look is not None:
            self._note_differentiated(self._look, event, pull, entry)

    def _note_entry(self, node: Any, pull: Pull) -> Entry:
        """Note the entry of a gradient operator, and the parts of the sums that it made."""
        entry = self._entry(node.op.type, BACKWARD, node.loc, node)
        if _is_users(node):
            entry.outs = [("", n) for n in pull.outs]
        else:
            wiring.backward(entry, pull, None)
        entry.sums = [total for total, _, _ in pull.sums]
        self._parts.update({total: (first, added) for total, first, added in pull.sums})
        return entry

    def _note_differentiated(
        self, look: Callable[[DifferentiatedOperator], None], event: watch.Pulled, pull: Pull, entry: Entry
    ) -> None:
        """Note a gradient operator for who looks at each of them."""

        def show() -> None:
            retained: Callable[[], Sequence[Any]] = event.node.retained
            if pull.operands is not None:  # taken now: the store may let go of them before they are looked at
                retained = partial(tuple, self._resolve(pull.operands))
            with watch.pause_watchers():
                look(
                    DifferentiatedOperator(
                        event.node,
                        event.wrt,
                        [self._array(n, g) for n, g in zip(pull.arriving, event.arriving, strict=True)],
                        [None if n == NOBODY else self._array(n, g) for n, g in zip(pull.outs, gradients, strict=True)],
                        retained,
                        None if entry.kernel is None else lambda arriving: self._again(entry, event.node, arriving),
                        self.backend.flushes,
                    )
                )

        gradients = list(event.gradients)
        self._told.append((show, [*flat([*pull.arriving, *pull.outs]), *entry.inputs]))

    def _resolve(self, operands: Any) -> Any:
        """The values of operands, nested as these are."""
        if isinstance(operands, list):
            return [self._resolve(o) for o in operands]
        if isinstance(operands, FixedOperand):
            return operands.value
        return None if operands is None or operands not in self._store else self._store.get(operands)

    def _again(self, entry: Entry, node: Any, arriving: Sequence[Any]) -> Sequence[Any]:
        """Return what a gradient operator gives where *arriving* arrives."""
        rest = iter(arriving)

        def place(operand: Any) -> Any:
            if isinstance(operand, list):
                return [place(o) for o in operand]
            gradient = next(rest)
            return operand if gradient is None else FixedOperand(gradient)

        of_gradients = [read.kind == "dout" for read in node.op.rule.reads]
        operands = [place(o) if g else o for g, o in zip(of_gradients, entry.operands, strict=True)]
        return backend_run.compute_one(replace(entry, operands=operands), self._store, self.backend)

    def _gave(self, node: Any, gradient: Any) -> int:
        """As in the base; what the user's rule computed by operators has its number."""
        number = self._store.find_number(gradient) if _is_users(node) else None
        return super()._gave(node, gradient) if number is None else number

    def _note_ended(self, event: watch.Ended) -> None:
        self._events(event)
        work, self._last = self._last, self._passes.pop()
        if self._passes or work is None:  # a pass goes on around it, or is going to go through it
            return
        self._totals = work.totals
        self._tell()
        # What came before this pass is older than what the next one can need.
        self._before, self._entries = self._entries, []
        self._by_key, self._calls = {c.key: c for c in self._calls}, []
        needed = {n for e in self._before for n in e.inputs}
        for number in range(self._dropped, self._ended_at):
            if number not in needed:
                self._store.drop(number)
                self._done.discard(number)
                self._parts.pop(number, None)
        self._dropped, self._ended_at = self._ended_at, self._store.count
        self._store.clear_up()

    # -- what is told -------------------------------------------------------------------------------------------------

    def _entry(self, name: str, part: str, loc: Any, origin: Any) -> Entry:
        entry = Entry(0, name, name, part, loc, origin=origin)
        self._entries.append(entry)
        return entry

    def _note(self, event: OpEvent | Begin | End) -> None:
        """Note an event that is to be told, with the numbers of its arrays."""
        if self._listener is None:
            return
        arrays: list[Any] = []
        if isinstance(event, OpEvent):
            arrays = [v.array for v in (*event.inputs, *event.outputs)]
        elif isinstance(event, Begin):
            arrays = event.roots
        known, places = self._store.find_number, self._places
        self._told.append((event, [places[identity(a)] if identity(a) in places else known(a) for a in arrays]))

    def _tell(self) -> None:
        """Tell what was noted, with the values of the backend."""
        told, self._told = self._told, []
        self._compute({n for _, numbers in told for n in numbers if n is not None})
        for event, numbers in told:
            if isinstance(event, OpEvent):
                slots = [
                    replace(v, array=self._array(n, v.array))
                    for v, n in zip((*event.inputs, *event.outputs), numbers, strict=True)
                ]
                count = len(event.inputs)
                self._hear(replace(event, reads=slots[:count], outputs=slots[count:]))
            elif isinstance(event, Begin):
                roots = [self._array(n, a) for n, a in zip(numbers, event.roots, strict=True)]
                self._hear(replace(event, roots=roots))
            elif isinstance(event, End):
                self._hear(event)
            else:
                event()

    def _hear(self, event: OpEvent | Begin | End) -> None:
        assert self._listener is not None
        with watch.pause_watchers():
            self._listener(event)

    def _compute(self, wanted: set[int]) -> None:
        """Have the backend's values of the *wanted* numbers, and of what they are computed from."""
        wanted = wanted - self._done
        chosen = self._find_makers(wanted, self._done)
        if not chosen:
            return
        with watch.pause_watchers():
            backend_run.compute_entries(chosen, self._parts.get, self._store, self.backend, wanted)
        for entry in chosen:
            self._done.update(entry.sums if entry.kernel is None else entry.made)
            self.computed += entry.kernel is not None

    def _find_makers(self, wanted: set[int], done: Collection[int]) -> list[Entry]:
        """The entries that make the *wanted* numbers, to which those are added that they are made of."""
        chosen = []
        for entry in reversed([*self._before, *self._entries]):
            made = entry.made
            if wanted.isdisjoint(made) or all(n in done for n in made):
                continue
            summands = [n for total in entry.sums for n in self._parts[total]]
            if entry.kernel is None and not summands:
                continue
            chosen.append(entry)
            wanted.update(n for n in (*entry.inputs, *summands) if n not in done)
        return chosen[::-1]

    def number(self, array: Any) -> int | None:
        """The number of a value by its array, until the backend has computed it; None if it was not noted."""
        return self._store.find_number(array)

    def holds(self, loss: int | None) -> bool:
        """Return whether there was a pass, and what computed the *loss* before it was noted; by its number."""
        return bool(self._totals) and any(loss in entry.made for entry in self._before if entry.part == FORWARD)

    def took(self, loss: int | None, runs: int) -> Iterator[Took]:
        """Yield the cost of the loss and the gradients of a pass as one program of the backend, in each run.

        What reads nothing (parameters as they begin, numbers that were drawn) is given. To be called where
        :meth:`holds` says so, or when a pass is over, by what :meth:`defer` gives.
        """
        numbers = {*self._totals.values(), loss}
        results = {n for n in numbers if n is not None}
        chosen = [entry for entry in self._find_makers({*results}, ()) if entry.inputs]
        with watch.pause_watchers():
            yield from backend_run.time_backend(chosen, self._parts.get, self._store, self.backend, results, runs)


def _describe_own(node: Any, hooked: bool) -> str:
    """Return the words about a rule of the user's, or a hook."""
    return f"{'a hook on ' if hooked else ''}{node.op.type} ({source.short(node.loc)})"


def _number_arrays(event: watch.Pulled, pull: Pull) -> dict[int, int]:
    """Return the numbers of the gradients that arrived and were given, by the id of their arrays."""
    arrays = (*zip(event.arriving, pull.arriving, strict=True), *zip(event.gradients, pull.outs, strict=True))
    return {identity(a): n for a, n in arrays if a is not None and n is not None and n != NOBODY}


def _is_users(node: Any) -> bool:
    """Return whether the gradient rule of a node is the user's own."""
    return getattr(node.op, "grad_op", None) is None


def _plain(value: Any) -> Any:
    return getattr(value, "array", value)


_NOTED: dict[type, Callable[[Retelling, Any], None]] = {
    watch.Computed: Retelling._note_computed,
    watch.Doubled: Retelling._note_doubled,
    watch.Began: Retelling._note_began,
    watch.Pulled: Retelling._note_pulled,
    watch.Ended: Retelling._note_ended,
}
