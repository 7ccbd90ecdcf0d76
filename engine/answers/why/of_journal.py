"""Reasons for the tensors of a program of dynamic mode, from its journal."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, reduce
from typing import TypeVar

from ...core import source
from ...core.collector import pause_gc
from ...core.records import dataclass
from ...core.source import NOWHERE, Location
from ...eager.journal import Journal
from ...eager.journal_entries import Call, Event
from ...eager.tensor import Tensor
from ...ops import registry
from . import plain_values
from .arguments import MissingGradient, places_of, refuse_argument, refuse_result
from .reasons import CallFlow, Cut, FlowStep, Reason, Reasons
from .terms import Copy
from .unrecorded_code import EnclosedCall
from .verdicts import UNRECORDED, Aspect, Verdict

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class NamedTensor:
    """A tensor that people know by a name.

    Attributes:
        made: where it was made.
        container: the plain list of a Layer that holds it, such as ``net.blocks``; empty if none does.
        dropped: whether it stands for parameters that nobody holds and the loss does not depend on.
    """

    tensor: Tensor
    shown: str
    made: Location = NOWHERE
    container: str = ""
    dropped: bool = False


class JournalFlow(CallFlow[int, Call]):
    """The calls in a journal.

    Args:
        names: the tensors that people have names for, by number.
        no_grad: the numbers of values that count as constants.
    """

    def __init__(self, journal: Journal, names: Mapping[int, NamedTensor], no_grad: Collection[int] = ()) -> None:
        self.journal = journal
        self.names = names
        self.no_grad = frozenset(no_grad)
        self.calls = journal.calls
        self.maker: dict[int, Call] = {w: c for c in self.calls for w in c.writes}
        self._halted: set[int | None] = {n for n, k in names.items() if k.tensor.stop_gradient}

    @cached_property
    def backward_at(self) -> dict[int | None, set[Location]]:
        """By the number of a loss the lines that ran backward from it."""
        at: dict[int | None, set[Location]] = {}
        for events in self.journal.events.values():
            for e in events:
                if e.kind == "added":
                    at.setdefault(e.into, set()).add(e.loc[:1])
        return at

    def back(self, reached: Collection[int | None] | None = None) -> Iterator[FlowStep[Call, int]]:
        halted = self._halted
        halted.clear()
        for call in reversed(self.calls):
            _, reads, writes, passes, stops, taken, _, _, _, _ = call
            if False not in stops:
                halted.update(reads)
            elif True in stops:
                for v, stopped in zip(reads, stops, strict=True):
                    if v is not None and stopped:
                        halted.add(v)
                    else:
                        halted.discard(v)
            elif halted:
                halted.difference_update(reads)
            yield call, reads, writes, passes, taken

    def links(self) -> Iterator[tuple[Call, Sequence[int | None], Sequence[int]]]:
        for call in reversed(self.calls):
            yield call, call[1], call[2]

    def stop(self, value: int) -> Cut[int, Call] | None:
        maker = self.maker.get(value)
        if self.no_grad and value in self.no_grad:
            return Cut(Verdict.NO_GRAD_SET, value, maker)
        recorded = maker is None or maker.key is not None
        if maker is not None and recorded and False in maker.taken and not maker.taken[maker.writes.index(value)]:
            return Cut(Verdict.NON_DIFFERENTIABLE, value, maker)
        if recorded:
            if value not in self._halted:
                return None
            named = self.names.get(value)
            kind = named.tensor.array.dtype.kind if named is not None else "f"
            verdict = Verdict.INTEGER if kind in "biu" else Verdict.STOP_GRADIENT
            return Cut(verdict, value, maker, at=NOWHERE if maker is None else self.stop_line(value))
        assert maker is not None
        guard = self.journal.guards.get(maker.time)
        if guard is None:
            cut = Cut(_verdict(maker), value, maker)
            return cut if self.refusal(cut) is None else replace(cut, verdict=Verdict.ARGUMENT)
        if not guard.kind:
            return Cut(_verdict(maker), value, maker, guard=guard.loc)
        enclosure = EnclosedCall(guard.kind, guard.name, guard.inputs)
        verdict = Verdict.NO_GRAD if enclosure.is_mode else Verdict.NO_INPUT
        return Cut(verdict, value, maker, guard=guard.loc, enclosure=enclosure)

    def end_before(self, target: int) -> Cut[int, Call] | None:
        before = self.journal.released.get(target)
        maker = None if before is None else self.maker.get(before)
        if before is None or maker is None:
            return None
        return self.stop(before) or Cut(Verdict.STOP_GRADIENT, before, maker)

    def explain_refusal(self, call: Call, value: int) -> Cut[int, Call]:
        whole, v = self.journal.whole_numbers, value
        while v in whole and v in self.maker:
            maker = self.maker[v]
            before = next((r for r in maker.reads if r in whole), None)
            if before is None:
                return Cut(Verdict.INTEGER, v, maker)
            v = before
        cut = super().explain_refusal(call, value)
        return cut if self.refusal(cut) is None else replace(cut, verdict=Verdict.ARGUMENT)

    def refusal(self, cut: Cut[int, Call]) -> MissingGradient | None:
        call = cut.call
        if call is None or not cut.verdict.has(Aspect.BY_OPERATOR):
            return None
        op = registry.find(call.type)
        if op is None:
            return None
        if not cut.at_input and True in call.taken:
            one_each = len(call.writes) == len(op.outputs) and cut.value in call.writes
            return refuse_result(op, call.writes.index(cut.value)) if one_each else None
        wanted = [i for i, read in enumerate(call.reads) if _asks(call, i) and (not cut.at_input or read == cut.value)]
        slots = places_of(op.inputs, len(call.reads))
        return refuse_argument(op, [slots[i] for i in wanted if i < len(slots)])

    def passes_stops_on(self, call: Call) -> bool:
        return call.unrecorded is None

    def stop_line(self, value: int) -> Location:
        """Return the line where ``stop_gradient`` was last set, if the program set it."""
        events = [e for e in self.journal.events.get(value, ()) if e.kind == "stopped"]
        return events[-1].loc if events else NOWHERE

    def drop_place(self, value: int) -> Location:
        maker = self.maker.get(value)
        return NOWHERE if maker is None else self.journal.dropped.get(maker.time, NOWHERE)

    def name(self, value: int) -> str:
        named = self.names.get(value)
        if named is not None:
            return named.shown
        maker = self.maker.get(value)
        return maker.type if maker is not None else "a constant"

    def name_or_empty(self, value: int) -> str:
        named = self.names.get(value)
        return "" if named is None else named.shown

    def dtype(self, value: int) -> str:
        named = self.names.get(value)
        return named.tensor.dtype.name if named is not None else "an integer"

    def made_at(self, value: int) -> Location:
        maker = self.maker.get(value) or self.maker.get(self.journal.released.get(value, value))
        if maker is not None:
            return maker.loc
        named = self.names.get(value)
        entered = self.journal.entered.get(value, NOWHERE)
        return entered if named is None else named.made or entered

    def place_of_choice(self, value: int) -> Location:
        return self.journal.chosen.get(value, NOWHERE)

    def call_type(self, call: Call) -> str:
        return call.type

    def call_line(self, call: Call) -> Location:
        return call.loc


def _verdict(call: Call) -> Verdict:
    """Return what became of the gradient of what *call* made, which was not recorded or stops gradients."""
    return Verdict.STOP_GRADIENT if call.unrecorded is None else UNRECORDED[call.unrecorded.name]


def _asks(call: Call, i: int) -> bool:
    """Return whether read *i* of *call* needs a gradient that the operator does not give."""
    return call.reads[i] is not None and not call.halted[i] and not call.passes[i]


@dataclass(frozen=True, slots=True)
class RoundTrip:
    """Values that left the graph and came back as a tensor that knows nothing of it.

    Attributes:
        left: the last of the events of a value going to Python.
        value: which value that was.
        entered: where a tensor on which the loss depends was made from plain values afterwards.
    """

    left: Event
    value: int
    entered: Location


class JournalReasons(Reasons[int, Call]):
    """Verdicts on the tensors of a program; made by :func:`explain_tensors`."""

    flow: JournalFlow

    def explain_tensor(self, t: Tensor) -> Reason[int, Call]:
        """The verdict on *t*, as its place in the graph has it."""
        value = self.flow.journal.number(t)
        reason = self.explain(value)
        parameter = bool(getattr(t, "is_parameter", False))
        if t.stop_gradient and not (value in self.reached and t.node is not None):
            if t.array.dtype.kind in "biu":
                return Reason(Verdict.INTEGER, value, self.flow, Cut(Verdict.INTEGER, value, None))
            if t.node is None and value not in self.flow.maker:
                verdict = Verdict.FROZEN if parameter else Verdict.STOP_GRADIENT
                return Reason(verdict, value, self.flow, Cut(verdict, value, None, at=self.flow.stop_line(value)))
        if reason.verdict is Verdict.NO_PATH:
            number = self.as_number(value)
            if number is not None:
                return Reason(Verdict.DETACHED, value, self.flow, Cut(Verdict.DETACHED, value, None, at=number.loc))
            back = self.round_trip(value)
            if back is not None:
                return Reason(
                    Verdict.DETACHED, value, self.flow, Cut(Verdict.DETACHED, back.value, None, at=back.left.loc)
                )
        return reason

    def as_number(self, value: int) -> Event | None:
        """Return the event in which a result of *value* became a Python number that the targets are computed with."""
        return self._numbers.get(value)

    @cached_property
    def _numbers(self) -> dict[int, Event]:
        """By value the last of these events."""
        own = {v: way.left for v, way in self._ways.items() if _is_on_one_line(way)}
        return self._spread(own, lambda one, other: one if one.time > other.time else other)

    def round_trip(self, value: int) -> RoundTrip | None:
        """Return the way of a result of *value* out of the graph as plain values and back to the targets."""
        return self._copies.get(value) or self._returns.get(value)

    @cached_property
    def _copies(self) -> dict[int, RoundTrip]:
        """By value the first time that it was copied to a tensor on which the targets depend."""
        own: dict[int, RoundTrip] = {}
        for v, event in self._departures:
            if event.into is not None and event.into in self.depends:
                own.setdefault(v, RoundTrip(event, v, event.loc))
        return self._spread(own, lambda one, other: one if one.left.time < other.left.time else other)

    @cached_property
    def _returns(self) -> dict[int, RoundTrip]:
        """By value the last time that it went to Python, and plain values that hold it came back."""
        own = {v: way for v, way in self._ways.items() if not _is_on_one_line(way)}
        return self._spread(own, lambda one, other: one if one.left.time >= other.left.time else other)

    @cached_property
    def copies(self) -> dict[int, Copy[int]]:
        """By value that plain values were brought back in: what they are the values of, and where they left."""
        copies = {e.into: Copy(v, e.loc) for v, e in self._departures if e.into is not None}
        entered: dict[Location, list[int]] = {}
        for u in self.depends:
            if u is not None and u not in self.flow.maker and not self._is_parameter(u):
                entered.setdefault(self.flow.made_at(u), []).append(u)
        for v, way in self._ways.items():
            copies.update((u, Copy(v, way.left.loc)) for u in entered.get(way.entered, ()) if u > way.left.time)
        return copies | dict(self._returns_at_once(entered))

    def _is_parameter(self, value: int) -> bool:
        named = self.flow.names.get(value)
        return named is not None and bool(getattr(named.tensor, "is_parameter", False))

    def _returns_at_once(self, entered: Mapping[Location, Sequence[int]]) -> Iterator[tuple[int, Copy[int]]]:
        """Yield the values that go to NumPy or to Python, and come back on one line.

        Args:
            entered: by line the values that are brought in there.
        """
        for v, event in self._departures:
            back = min((u for u in entered.get(event.loc, ()) if u > event.time), default=None)
            if back is not None and event.into is None and event.how in _WHOLE:
                yield back, Copy(v, event.loc)

    def numbers(self) -> Iterator[RoundTrip]:
        """Values that went to Python, and the line that computes the targets with them as plain numbers."""
        yield from self._ways.values()

    @cached_property
    def _ways(self) -> dict[int, RoundTrip]:
        """By value that became plain values, the last time that the user's text computes the targets with these."""
        lines: dict[tuple[object, ...], RoundTrip | None] = {}
        own: dict[int, RoundTrip] = {}
        for v, event in self._departures:
            if event.into is not None:
                continue
            line = (*event.loc, event.how)
            if line not in lines:
                lines[line] = self._way(v, event)
            way = lines[line]
            if way is not None and self._entries[way.entered] > event.time:
                own[v] = RoundTrip(event, v, way.entered)
        return own

    def _way(self, value: int, event: Event) -> RoundTrip | None:
        entries = [loc for loc, time in self._entries.items() if time > event.time]
        entered = plain_values.way_back(event.loc, event.how, entries)
        return None if entered is None else RoundTrip(event, value, entered)

    @cached_property
    def _entries(self) -> dict[Location, int]:
        """By line that computes the targets, or makes plain values that they are computed from, the last time of it."""
        entries: dict[Location, int] = {}
        for v in self.depends:
            if v is not None and v not in self.flow.maker:
                entries[self.flow.made_at(v)] = max(v, entries.get(self.flow.made_at(v), 0))
        for call in self.flow.calls:
            if not self.depends.isdisjoint(call.writes):
                entries[call.loc] = call.time
        entries.pop(NOWHERE, None)
        return dict(sorted(entries.items(), key=lambda entry: entry[1]))

    @property
    def _departures(self) -> Iterator[tuple[int, Event]]:
        """Values with the events of them going to Python, the first one first."""
        for v, events in self.flow.journal.events.items():
            for event in events:
                if event.kind == "left":
                    yield v, event

    def _spread(self, own: dict[int, _T], better: Callable[[_T, _T], _T]) -> dict[int, _T]:
        """*own*, which is known of values, also of all that they are computed from: of several the better one."""
        spread = dict(own)
        for call in reversed(self.flow.calls) if own else ():
            results = [spread[w] for w in call.writes if w in spread]
            if not results:
                continue
            best = reduce(better, results)
            for v in call.reads:
                if v is not None:
                    spread[v] = better(best, spread[v]) if v in spread else best
        return spread


_WHOLE = ("numpy", "tolist", "item")
"""The ways in which all of a tensor becomes plain values."""

_NUMBERS = ("item", "__float__", "__int__")
"""The ways in which a tensor becomes a Python number."""


def _is_on_one_line(way: RoundTrip) -> bool:
    return way.left.how in _NUMBERS and source.file_and_line(way.left.loc) == source.file_and_line(way.entered)


def explain_tensors(
    journal: Journal,
    targets: Iterable[Tensor],
    names: Iterable[NamedTensor],
    no_grad: Iterable[Tensor],
) -> JournalReasons:
    """Return what a backward pass from *targets* reaches, and why it does not reach the rest.

    Args:
        journal: kept while the program ran.
        names: the tensors that people have names for.
        no_grad: tensors that count as constants.
    """
    with pause_gc():
        targets = [*targets]
        for t in targets:
            if t.node is None and t.loc:  # no operator reads a loss that was made of plain values
                journal.entered.setdefault(journal.number(t), t.loc)
        by_number = {journal.number(k.tensor): k for k in names}
        flow = JournalFlow(journal, by_number, [journal.number(t) for t in no_grad])
        return JournalReasons(flow, [journal.number(t) for t in targets])
