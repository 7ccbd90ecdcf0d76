"""The walk that finds why gradients end: over the calls of a :class:`CallFlow`, in proportion to their number.

The calls are followed from the targets to the inputs twice in one pass: along every dependency, and the way the
backward sweep goes. Where the second walk ends although the first goes on, there is a cut.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any, Generic, TypeVar

from ...core import source
from ...core.records import dataclass
from ...core.source import NOWHERE, Location
from ...core.vocabulary import say
from .arguments import MissingGradient
from .unrecorded_code import EnclosedCall
from .unrecorded_code import V as V
from .verdicts import Aspect, Verdict

C = TypeVar("C")
"""A call of an operator."""

FlowStep = tuple[C, Sequence[V | None], Sequence[V], Sequence[bool], Sequence[bool]]
"""A call, what it reads and writes, which reads it can give a gradient, and through which writes gradients reach it."""


def same(one: Any, other: Any) -> bool:
    """Return whether two values are the same one.

    Sets ask for identity, and ``==`` of variables appends an operator.
    """
    return one in {other}


@dataclass(slots=True, eq=False)
class Cut(Generic[V, C]):
    """The place where a path of gradients ends, seen from the loss.

    Attributes:
        value: the value at which it ends.
        call: the call that passes no gradient on, or that made the value; None for data and parameters.
        at_input: whether the call has gradients, but none for this input.
        at: the user's line, where it is not that of the call.
        guard: where the recording of the call was switched off.
        enclosure: the call that switched it off by itself.
    """

    verdict: Verdict
    value: V
    call: C | None
    at_input: bool = False
    at: Location = NOWHERE
    guard: Location = NOWHERE
    enclosure: EnclosedCall[V] | None = None


class CallFlow(ABC, Generic[V, C]):
    """Calls in the order of execution, and what is known of their values."""

    @abstractmethod
    def back(self, reached: Collection[V | None] | None = None) -> Iterator[FlowStep[C, V]]:
        """The calls, the last one first.

        Args:
            reached: while the calls are walked over for the first time, the values that gradients come to so far.
        """

    def links(self) -> Iterator[tuple[C, Sequence[V | None], Sequence[V]]]:
        """The calls, the last one first, with what they read and write alone."""
        for call, read, written, _, _ in self.back():
            yield call, read, written

    @abstractmethod
    def stop(self, value: V) -> Cut[V, C] | None:
        """Why no gradient flows into *value* although one arrives, or None."""

    def end_before(self, target: V) -> Cut[V, C] | None:
        """Return where the graph ended before somebody made a leaf of its result, which *target* is; None of others."""
        return None

    def explain_refusal(self, call: C, value: V) -> Cut[V, C]:
        """Why *call*, which gradients come to, gives none to *value*."""
        return Cut(Verdict.NON_DIFFERENTIABLE, value, call, at_input=True)

    def refusal(self, cut: Cut[V, C]) -> MissingGradient | None:
        """Return what the operator of a cut says of this argument or result; None where it has no gradient at all."""
        return None

    def cut_within(self, call: C, onto: V, value: V) -> Cut[V, C] | None:
        """Why none comes to *value* through the block of *call*, whose result *onto* stops; None without one."""
        return None

    @abstractmethod
    def passes_stops_on(self, call: C) -> bool:
        """Return whether what *call* makes stops gradients only because all that it reads does."""

    @abstractmethod
    def name(self, value: V) -> str:
        """Return the name that people have for the value."""

    def name_or_empty(self, value: V) -> str:
        """Return the name that people gave to the value, or an empty string."""
        return self.name(value)

    @abstractmethod
    def dtype(self, value: V) -> str:
        """The type of its elements."""

    @abstractmethod
    def made_at(self, value: V) -> Location:
        """Return the line where it was made."""

    def drop_place(self, value: V) -> Location:
        """Return the user's line that drops a value; nowhere for one that has a name, or is read."""
        return NOWHERE

    def place_of_choice(self, value: V) -> Location:
        """Return where the setting of a layer was given that makes a value what it is; nowhere as a rule."""
        return NOWHERE

    @abstractmethod
    def call_type(self, call: C) -> str:
        """The type of the operator."""

    @abstractmethod
    def call_line(self, call: C) -> Location:
        """Return the line where the user's program called the operator."""


@dataclass(frozen=True, slots=True)
class Reason(Generic[V, C]):
    """A verdict on one value; *cut* says where its path ends."""

    verdict: Verdict
    value: V
    flow: CallFlow[V, C]
    cut: Cut[V, C] | None = None

    @property
    def location(self) -> Location:
        """The user's line that ends the path; of an uncut value, where it was made."""
        cut = self.cut
        if cut is not None and cut.at:
            return cut.at
        if cut is not None and cut.guard and not same(cut.value, self.value):
            return cut.guard
        if cut is None or (cut.call is None and same(cut.value, self.value)):
            return self.flow.made_at(self.value)
        return self.flow.call_line(cut.call) if cut.call is not None else self.flow.made_at(cut.value)

    @property
    def words(self) -> str:
        """As :attr:`text`, for those who see the cut elsewhere than its line: ``detached, model.py:14``."""
        text = self.text.removeprefix("cut: ")
        place = source.short(self.cut.at) if self.cut is not None else ""
        return text if not place or place in text else f"{text}, {place}"

    @property
    def text(self) -> str:
        """``cut: stop_gradient of tmp_3, model.py:14``: the reason in a few words."""
        cut, flow = self.cut, self.flow
        if self.verdict is Verdict.FROZEN:
            return describe_frozen()
        if cut is None:
            return self.verdict.short
        what = cut.verdict.short
        if cut.verdict is Verdict.INTEGER:
            what = f"{flow.dtype(cut.value)} has no gradient"
        if same(cut.value, self.value) and not cut.at_input:
            return f"cut: {what}"
        place = source.short(self.location)
        at = f", {place}" if place else ""
        refusal = flow.refusal(cut)
        if refusal is not None:
            return f"cut: {refusal.sentence}{at}"
        if cut.verdict is Verdict.NON_DIFFERENTIABLE and cut.call is not None:
            of = f" for {flow.name(cut.value)}" if cut.at_input else ""
            return f"cut: {flow.call_type(cut.call)} has no gradient{of}{at}"
        if cut.enclosure is not None:
            return f"cut: {cut.enclosure.short}{at}"
        if cut.verdict is Verdict.NO_GRAD_SET:
            return f"cut: {what} at {flow.name(cut.value)}{at}"
        return (
            f"cut: {what} of {flow.name(cut.value)}{at}" if cut.verdict is Verdict.STOP_GRADIENT else f"cut: {what}{at}"
        )


FROZEN = "frozen"
"""The first word about parameters that are not trained, because somebody wants it so."""


def describe_frozen() -> str:
    """Return what is said of a parameter that is not trained, in the words of the framework in use."""
    return say("frozen: {frozen}")


class Reasons(Generic[V, C]):
    """The reach of a backward pass, and the reasons for all that it does not reach.

    Args:
        flow: the calls of the forward pass.
        targets: where the backward pass starts.
    """

    def __init__(self, flow: CallFlow[V, C], targets: Iterable[V]) -> None:
        self.flow = flow
        self.asked = dict.fromkeys(targets)
        self.used: set[V | None] = set()
        self.depends: set[V | None] = {None, *self.asked}
        self.reached: set[V | None] = {None}
        self.cuts: dict[V, Cut[V, C]] = {}
        self.via: dict[V, tuple[C, V]] = {}
        """Value -> the call that leads from it to the targets, and the result that does; along the cut, if any."""
        for value in self.asked:
            stop = flow.stop(value)
            if stop is None:
                self.reached.add(value)
            else:
                self.cuts[value] = stop
            before = flow.end_before(value)
            if before is not None:
                self.depends.add(before.value)
                self.cuts[before.value] = before
        self._walk()

    def _walk(self) -> None:
        # The one loop that every answer waits for: an operator takes about a microsecond.
        depends, reached, cuts, via = self.depends, self.reached, self.cuts, self.via
        cut_behind = self._cut_behind
        stop, used = self.flow.stop, self.used
        for call, read, written, passes, takes in self.flow.back(reached):
            if depends.isdisjoint(written):
                used.update(read)
                continue
            if reached.issuperset(read):
                continue
            onto = written[0]
            if not (onto in reached and takes[0]):
                if len(written) > 1:
                    onto = self._find_result(written, takes)
                if onto not in reached or len(written) == 1:
                    cut_behind(call, onto, read)
                    continue
            depends.update(read)
            step = call, onto
            for value, passed in zip(read, passes, strict=False):
                if value in reached:
                    continue
                cut = stop(value)  # type: ignore[arg-type]
                if cut is None and passed:
                    reached.add(value)
                    via[value] = step  # type: ignore[index]
                    if cuts:
                        cuts.pop(value, None)  # type: ignore[arg-type]
                elif value not in cuts:
                    assert value is not None
                    cuts[value] = cut or self.flow.explain_refusal(call, value)
                    via[value] = step

    def _cut_behind(self, call: C, onto: V, read: Sequence[V | None]) -> None:
        """No gradient comes to *call*: what it reads and nobody has met is cut where its result *onto* is."""
        depends = self.depends
        if depends.issuperset(read):
            return
        inherited = self.cuts.get(onto)
        asks = False
        if inherited is None:
            inherited = Cut(Verdict.NON_DIFFERENTIABLE, onto, call)
        elif inherited.call is call and inherited.verdict.has(Aspect.INHERITED):
            # An output stopped only because all inputs are: what stopped those is the reason.
            asks = self.flow.passes_stops_on(call)
        step = call, onto
        for value in read:
            if value not in depends:
                depends.add(value)
                assert value is not None, "None counts as met"
                inner = self.flow.cut_within(call, onto, value) if inherited.verdict is Verdict.STOP_GRADIENT else None
                self.cuts[value] = inner or (asks and self.flow.stop(value)) or inherited
                self.via[value] = step

    def _find_result(self, written: Sequence[V], takes: Sequence[bool]) -> V:
        """The result through which gradients come; if there is none, one that is cut, or that something depends on."""
        reached, cuts, depends = self.reached, self.cuts, self.depends
        for w, taken in zip(written, takes, strict=False):
            if taken and w in reached:
                return w
        for met in (cuts, depends):
            for w in written:
                if w in met and w not in reached:
                    return w
        return next(w for w in written if w in depends)

    def explain(self, value: V) -> Reason[V, C]:
        """The verdict on *value*."""
        flow = self.flow
        if value in self.reached:
            return Reason(Verdict.OK, value, flow)
        if value not in self.used and value not in self.depends:
            return Reason(Verdict.UNUSED, value, flow)
        if value not in self.depends:
            return Reason(Verdict.NO_PATH, value, flow)
        cut = self.cuts[value]
        return Reason(cut.verdict, value, flow, cut)

    # -- around a verdict -----------------------------------------------------------------------------------------

    def path(self, value: V) -> list[tuple[V, C | None]]:
        """The way from *value* to a target: each value with the call that leads on from it; None at the target."""
        return list(self.walk(value))

    def walk(self, value: V) -> Iterator[tuple[V, C | None]]:
        """The same, one after another, without what lies in blocks."""
        while value in self.via:
            call, onto = self.via[value]
            yield value, call
            value = onto
        yield value, None

    def ancestors(self, cut: Cut[V, C]) -> set[V | None]:
        """Every value that what was cut off is computed from, itself included."""
        behind: set[V | None] = {cut.value}
        for _, read, written in self.flow.links():
            if not behind.isdisjoint(written):
                behind.update(read)
        return behind

    @cached_property
    def ends(self) -> dict[V, V]:
        """By value that the targets do not depend on: the last thing computed from it that nobody reads."""
        ends: dict[V, V] = {}
        for _, read, written in self.flow.links():
            if self.depends.isdisjoint(written):
                end = next((ends[w] for w in written if w in ends), written[0]) if written else None
                ends.update({v: end for v in read if v is not None and v not in ends} if end is not None else {})
        return ends

    def frontier(self, value: V) -> list[V]:
        """Return what is computed from *value* and read by nobody.

        Where its part of the graph ends without the loss.
        """
        inside = {value}
        last: dict[V, None] = {value: None}
        for _, read, written in reversed(list(self.flow.links())):
            if not inside.isdisjoint(read):
                inside.update(written)
                for v in read:
                    if v is not None:
                        last.pop(v, None)
                last.update(dict.fromkeys(written))
        return list(last)
