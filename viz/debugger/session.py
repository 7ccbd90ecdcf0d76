"""A debugging session: branches of a run, a cursor in each, and what stops it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np

from gradtool.engine.core import source
from gradtool.engine.core.errors import message
from gradtool.engine.runs.branch import Branch
from gradtool.engine.runs.timeline import Entry, Timeline

from . import stops
from .errors import NotTrusted, VerbError, unknown
from .halt import Halt
from .scope import evaluate
from .stops import Stop


class Session:
    """A timeline, walked through.

    Args:
        timeline: the run.
        tools: what verbs such as ``why`` and ``graph`` ask about the model itself; see :mod:`.verbs`.

    Attributes:
        branches: by name; ``base`` is the run as it was.
        branch: the one that verbs work on.
        stops: breakpoints, catches and watches in the order of their numbers.
        names: the user's own names in expressions.
        start: where it begins: the first backward operator, or the operator that failed.
        locals: names of the user's program in expressions: the variables where it failed or was stopped.
        arrived: whether what stops the run at the cursor has been seen.
        numbered: the number of the last breakpoint, catch or watch.
        trusted: whether expressions that stand in the file that it was read from are evaluated.
        reading: whether what is being carried out stands there.
    """

    def __init__(self, timeline: Timeline, tools: dict[str, Callable[..., Any]] | None = None) -> None:
        self.timeline = timeline
        timeline.recalls = True
        self.tools = tools or {}
        self.start = timeline.failed[0] if timeline.failed is not None else timeline.begin
        self.branch = Branch(timeline, cursor=self.start)
        self.branches = {"base": self.branch}
        self.stops: list[Stop] = []
        self.names: dict[str, Any] = {}
        self.locals: Mapping[str, Any] = {}
        self.numbered = 0
        self.arrived = False
        self.trusted = True
        self.reading = False
        self._entries = {e.name: e for e in timeline.entries}
        self._first: dict[int, int] | None = None
        names = timeline.names
        self.wanting = {n.removesuffix("@GRAD") for n in names if n.endswith("@GRAD")} | set(timeline.results)

    # -- trust --------------------------------------------------------------------------------------------------------

    @contextmanager
    def replay_file(self, stands_there: bool = True) -> Iterator[None]:
        """Carry out what stands in a file inside, if it does; nothing that is typed."""
        before, self.reading = self.reading, self.reading or stands_there
        try:
            yield
        finally:
            self.reading = before

    def permit(self, text: str) -> None:
        """Raise :class:`NotTrusted` unless *text* may be evaluated, or carried out with all that it does."""
        if self.reading and not self.trusted:
            raise NotTrusted(text)

    # -- where --------------------------------------------------------------------------------------------------------

    @property
    def cursor(self) -> int:
        """The index of the next entry."""
        return self.branch.cursor

    @property
    def current(self) -> Entry | None:
        """The next entry, or None at the end."""
        entries = self.timeline.entries
        return entries[self.cursor] if self.cursor < len(entries) else None

    def entry(self, text: str) -> Entry:
        """The operator called *text*: ``relu_grad.0``, ``%7`` (the seventh of the run), a type, a line, a layer.

        The name of a tensor means the operator that makes it. Of several, the next one from the cursor on, else the
        last one.

        Raises:
            VerbError: there is none.
        """
        entries = self.timeline.entries
        if text.startswith("%"):
            number = text[1:]
            if not number.isdigit() or not 1 <= int(number) <= len(entries):
                last = f"%{len(entries)} is the last: {entries[-1].name}" if entries else None
                raise VerbError(
                    f"there is no operator {text}: they are numbered from %1 to %{len(entries)}.", hint=last
                )
            return entries[int(number) - 1]
        bare = text.removeprefix("op:")
        if bare in self._entries:
            return self._entries[bare]
        matches = [entries[i] for i in sorted(stops.places(self, text, here=True))]
        return next((e for e in matches if e.index >= self.cursor), matches[-1])

    def number(self, name: str) -> int:
        """The number of the value that *name* has at the cursor.

        Raises:
            VerbError: there is no such tensor.
        """
        number = self.timeline.find(name, self.cursor)
        if number is None:
            raise unknown("tensor", name, self.timeline.names, otherwise="list shows the tensors around the cursor")
        return number

    def first_reader(self, number: int) -> int:
        """The index of the first entry that reads a value; of one that nobody reads, that of none."""
        if self._first is None:
            self._first = {}
            for entry in self.timeline.entries:
                for n in entry.inputs:
                    self._first.setdefault(n, entry.index)
        return self._first.get(number, len(self.timeline.entries))

    def label(self, entry: Entry) -> str:
        """``7/12 sqrt_grad.0``."""
        return f"{entry.index + 1}/{len(self.timeline.entries)} {entry.name}"

    # -- moving -------------------------------------------------------------------------------------------------------

    def step(self, count: int = 1) -> Halt:
        """Run so many operators, whatever stops are set."""
        return self._forward(lambda entry, done: done >= count, stopping=False)

    def next_layer(self, count: int = 1) -> Halt:
        """Run to the first operator of another layer (or line, outside of layers), so many times; stops stop it."""
        return self._step_layers(count, self._forward)

    def run_until(self, entry: Entry) -> Halt:
        """Run until *entry* is the next one; stops stop it."""
        if entry.index < self.cursor:
            raise VerbError(f"{entry.name} is done already.", hint=f"goto {entry.name} goes back to it")
        return self._forward(lambda e, done: e is entry)

    def finish(self) -> Halt:
        """Run to the end, whatever stops are set."""
        return self._forward(lambda entry, done: False, stopping=False)

    def resume(self) -> Halt:
        """Run until something stops it."""
        return self._forward(lambda entry, done: False)

    def back(self, count: int = 1) -> Halt:
        """Go back so many operators."""
        return self._backward(lambda entry, done: done >= count, stopping=False)

    def previous_layer(self, count: int = 1) -> Halt:
        """Go back to the last operator of another layer (or line, outside of layers), so many times."""
        return self._step_layers(count, self._backward)

    def back_to_stop(self) -> Halt:
        """Go back until something stops it."""
        return self._backward(lambda entry, done: False)

    def goto(self, index: int) -> Halt:
        """Have the entry of that index be the next one, running what has to run."""
        if index > self.cursor:
            return self._forward(lambda entry, done: entry.index >= index, stopping=False)
        self.branch.cursor = index
        return Halt("done")

    def begin(self) -> Halt | None:
        """Stand at :attr:`start`; or before, at a forward operator where something stops the run."""
        self.branch.cursor = 0
        if self.stops and self.start:
            halt = self._forward(lambda entry, done: entry.index >= self.start)
            if halt.why not in ("done", "end", "error"):
                return halt
        self.branch.cursor = self.start
        self.arrived = False
        return None

    def _step_layers(self, count: int, move: Callable[..., Halt]) -> Halt:
        layer = _layer(self.current) if self.current is not None else ""
        left = count

        def is_over(entry: Entry, done: int) -> bool:
            nonlocal layer, left
            if _layer(entry) != layer:
                layer, left = _layer(entry), left - 1
            return left <= 0

        return move(is_over)

    def _forward(self, over: Callable[[Entry, int], bool], stopping: bool = True) -> Halt:
        watched = self._watches() if stopping else []
        failed = self.timeline.failed
        done = 0
        while (entry := self.current) is not None:
            if done and over(entry, done):
                return Halt("done")
            try:
                # Where a move ended, whatever stops there has been seen.
                halt = self._check_stops(entry) if stopping and (done or not self.arrived) else None
                self.arrived = True
                if halt is not None:
                    return halt
                if failed is not None and failed[0] == entry.index and not self.branch.edits:
                    return Halt("error", error=failed[1])
                self.branch.run(entry)
            except VerbError:
                raise
            except Exception as error:
                return Halt("error", error=error)
            self.branch.cursor += 1
            done += 1
            halt = self._check_watches(watched)
            if halt is not None:
                return halt
        if failed is not None and failed[0] >= len(self.timeline.entries):
            return Halt("error", error=failed[1])
        return Halt("end")

    def _backward(self, over: Callable[[Entry, int], bool], stopping: bool = True) -> Halt:
        watched = self._watches() if stopping else []
        self.arrived = True
        done = 0
        while self.cursor > 0:
            self.branch.cursor -= 1
            entry = self.timeline.entries[self.cursor]
            done += 1
            if over(entry, done):
                return Halt("done")
            if stopping:
                halt = self._check_stops(entry) or self._check_watches(watched)
                if halt is not None:
                    return halt
        return Halt("start")

    # -- stops --------------------------------------------------------------------------------------------------------

    def add(self, kind: str, text: str, **more: Any) -> Stop:
        """Set a breakpoint, a catch or a watch."""
        self.numbered += 1
        stop = Stop(self.numbered, kind, text, foreign=self.reading, **more)
        self.stops.append(stop)
        return stop

    def stop(self, number: str) -> Stop:
        """The breakpoint, catch or watch of that number.

        Raises:
            VerbError: there is none.
        """
        stop = next((s for s in self.stops if str(s.number) == number), None)
        if stop is None:
            numbers = ", ".join(str(s.number) for s in self.stops)
            raise VerbError(f"there is no stop {number}.", hint=f"there is {numbers}" if numbers else "none is set")
        return stop

    def _check_stops(self, entry: Entry) -> Halt | None:
        for s in self.stops:
            if not s.enabled:
                continue
            what = ""
            if s.kind == "break":
                if not s.matches(entry):
                    continue
            elif s.kind == "catch":
                what = stops.catch_message(self, s.text.partition("=")[0], s.limit, entry)
                if not what:
                    continue
            else:
                continue
            if stops.holds(self, s, entry):
                return self._hit(s, what)
        return None

    def _hit(self, stop: Stop, what: str) -> Halt:
        stop.hits += 1
        if stop.once:
            self.stops.remove(stop)
        return Halt(stop.kind, stop, what)

    def _watches(self) -> list[Stop]:
        watches = [s for s in self.stops if s.kind == "watch" and s.enabled]
        for s in watches:
            s.seen = self.look(s.text, s.foreign)
        return watches

    def _check_watches(self, watched: list[Stop]) -> Halt | None:
        for s in watched:
            now = self.look(s.text, s.foreign)
            if not _same(now, s.seen):
                before, s.seen = s.seen, now
                return self._hit(s, f"{_brief(before)} → {_brief(now)}")
        return None

    def look(self, text: str, foreign: bool = False) -> Any:
        """The value of a watched expression; what it raises, where it cannot be computed yet.

        Args:
            foreign: whether it stands in a saved session.
        """
        try:
            with self.replay_file(foreign):
                return evaluate(self, text, self.current)
        except Exception as error:
            return stops.Raised(f"{type(error).__name__}: {message(error)}")

    # -- branches -----------------------------------------------------------------------------------------------------

    def fork(self, name: str | None) -> Branch:
        """A branch that goes on from here on its own, which verbs work on from now on."""
        if name is None:
            name = next(n for n in _fork_names() if n not in self.branches)
        if name in self.branches:
            raise VerbError(f"there is a branch {name!r} already.", hint=f"switch {name} goes there")
        self.branch = self.branches[name] = self.branch.fork(name)
        return self.branch

    def switch(self, name: str) -> Branch:
        """Have verbs work on another branch."""
        if name not in self.branches:
            raise unknown("branch", name, self.branches)
        self.branch = self.branches[name]
        return self.branch

    def results(self, branch: Branch) -> dict[str, Any]:
        """The final gradients in a branch; None for those that do not exist. What is needed for them is run."""
        end = len(self.timeline.entries)
        return {
            name: None if number is None else branch.value(number, end)
            for name, number in self.timeline.results.items()
        }


def _layer(entry: Entry) -> str:
    """Return the unit of ``next``: a layer; outside of layers, what a line made."""
    return entry.layer or source.short(entry.loc)


def _fork_names() -> Iterator[str]:
    n = 1
    while True:
        yield f"fork{n}"
        n += 1


def _same(a: Any, b: Any) -> bool:
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        return np.array_equal(np.asarray(a), np.asarray(b), equal_nan=np.asarray(a).dtype.kind in "fc")
    return bool(a == b or (a != a and b != b))


def _brief(value: Any) -> str:
    if isinstance(value, np.ndarray) and value.size > 1:
        return f"{value.dtype.name}{list(value.shape)}"
    text = f"{value:.6g}" if isinstance(value, (float, np.floating)) else str(value)
    return text if len(text) <= 40 else f"{text[:39]}…"
