"""The backward passes that a model file asks for: which there were, which one is meant, and when there were enough.

What is asked about is what was backpropagated. A variable that is called ``loss`` at the end of a script may be a
validation loss that has no graph; the loss of a backward pass has one.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from types import CodeType, FrameType
from typing import Any

from ..core import source, state
from ..core.command_errors import CommandError
from ..core.identity import identity
from ..core.records import dataclass
from ..core.source import Location
from ..eager.pass_start import PassRequest, Start
from ..eager.tensor import Leaf
from ..request.limits import ALL
from .shares import PassWindow, Shares, is_fresh

PASSES = "backward passes seen"
"""What is told while a file runs."""

_MOST_FRAMES = 32
"""Frames of a user's stack whose names are kept: an endless recursion has more."""


_BY_HAND = "by hand"
"""Who updates parameters that the script itself writes."""


def _as_it_is(value: Any) -> Any:
    return value


class Stopped(BaseException):
    """There were enough backward passes; raised in the user's code where the next one begins.

    No :class:`Exception`: what a script does about errors is for its own. Its ``finally`` blocks run, and its files are
    closed.
    """


class Interrupted(Stopped, KeyboardInterrupt):
    """Someone pressed Ctrl-C; what a script does then is done."""


@dataclass(frozen=True, slots=True)
class LocalNames:
    """Local names of a function that was running when a backward pass began.

    Attributes:
        function: its name; empty for the module.
        code: what was running.
    """

    function: str
    values: Mapping[str, Any]
    code: CodeType


@dataclass
class PassCall:
    """A call of ``backward``, ``grad``, ``append_backward`` or ``gradients`` that a model file made.

    Attributes:
        number: counts all of them from 1.
        how: one of these four.
        loss: what it started from: the first, if there were several. None once it has been let go of.
        listed: the parameter list of ``append_backward``; None for all.
        no_grad: its no-grad set.
        checkpoints: the names of those of its checkpoints that are used.
        location: the user's line.
        names: of the functions that were running, the outermost first.
        recorded: whether it made a graph itself (``create_graph``).
        kind: the public function that the user called, such as ``minimize``.
        python: what the user's code calls the loss; empty where it has no name.
        value: what the loss was, where it was one number.
        block: that the loss of a program stands in; None in dynamic mode.
        start: all its roots, with the gradients that were given; None once they have been let go of.
        request: its other arguments, in dynamic mode.
        parent: the number of the pass that it ran inside of; None for the outermost.
        step: how many updates there had been.
        gave: in dynamic mode, by leaf the gradient that it gave, before hooks of the leaf.
        held: by leaf the ``.grad`` after it, where that is not what it gave.
        is_done: whether it came to its end.
        roots: how many roots it had, and *gradients_given*, whether it was given gradients there: known for good.
    """

    number: int
    how: str
    loss: Any
    location: Location
    listed: Any = None
    no_grad: Any = None
    checkpoints: Sequence[str] = ()
    names: Sequence[LocalNames] = ()
    recorded: bool = False
    kind: str = ""
    python: str = ""
    value: float | None = None
    block: Any = None
    start: Start | None = None
    request: PassRequest = PassRequest()
    parent: int | None = None
    step: int = 0
    gave: Mapping[Leaf, Any] = field(default_factory=dict)
    held: Mapping[Leaf, Any] = field(default_factory=dict)
    is_done: bool = False
    roots: int = 1
    gradients_given: bool = False

    @property
    def line(self) -> Any:
        """Key shared by the calls of one line."""
        return self.how, source.file_and_line(self.location)

    def release(self) -> None:
        """Let go of what is only needed to ask about it."""
        self.loss, self.names, self.start, self.gave, self.held = None, (), None, {}, {}
        self.request = PassRequest((), None, self.request.retain_graph)


@dataclass
class PassCalls:
    """Listens to a model file's calls.

    Attributes:
        which: the pass that is meant: ``None`` for the last one, a number, or ``line:FILE:LINE``.
        limit: after so many passes the file is stopped where it asks for one more, at the end of a step.
        patience: seconds after which that is done, where it is not done at once.
        begun: when they began, in the seconds of ``time.monotonic``.
        every: all calls, in their order.
        appended: those of ``append_backward``.
        swept: those that are backward passes of dynamic mode; all but those that may be meant have let go of their
            loss.
        fed: programs that were run, each with its feed.
        runs: how many of these runs were of programs that hold a backward part.
        sweeps: how many of the passes of dynamic mode were asked for by ``backward``.
        stopped: where the file was stopped.
        seconds: its time, if that is limited.
        deadline: when its time is over, in the seconds of ``time.monotonic``.
        late: whether it was stopped for that.
        is_cut: whether it was stopped when it was recorded, so that nothing lets it go on.
        interrupted: whether someone stopped it.
        enough: whether the pass that is meant is over: those that begin then are not.
        shares: what passes gave to leaves.
        updates: how many updates of optimizers there were.
    """

    which: str | None = None
    limit: int = ALL
    patience: float | None = None
    begun: float = field(default_factory=time.monotonic)
    every: list[PassCall] = field(default_factory=list)
    appended: list[PassCall] = field(default_factory=list)
    swept: list[PassCall] = field(default_factory=list)
    fed: list[tuple[Any, Mapping[str, Any]]] = field(default_factory=list)
    runs: int = 0
    sweeps: int = 0
    stopped: Location | None = None
    seconds: float | None = None
    deadline: float | None = None
    late: bool = False
    is_cut: bool = False
    interrupted: bool = False
    enough: Callable[[], bool] = lambda: False
    keep: Callable[[Any], Any] = _as_it_is
    """Gives what is kept of a value that the file's code names: a recorded script frees its own when it would."""
    over: bool = False
    """Whether the file is done: what computes from now on is gradtool itself."""
    shares: Shares = field(default_factory=Shares)
    updates: int = 0
    _kept: list[PassCall] = field(default_factory=list)
    """Those of them that still hold their loss."""
    _leaving: list[PassCall] = field(default_factory=list)
    """Those that the pass which runs takes the place of: if that fails, the last of them is asked about."""
    _open: list[PassCall] = field(default_factory=list)
    """The passes that run, the innermost last."""
    _due: int | None = None
    """The number of passes at which the file was to be stopped first."""
    _unequal: list[Leaf] = field(default_factory=list)
    """The leaves whose ``.grad`` is going to be something else than what the pass that runs gives."""
    _repeated: int = 0
    """The number of the pass before the last one on a line that had run backward before."""
    _windows: dict[Any, PassWindow] = field(default_factory=dict)
    """By optimizer its last step."""

    def note_append(self, loss: Any, listed: Any, no_grad: Any, checkpoints: Sequence[str]) -> None:
        """Note a call of ``append_backward`` that is being made."""
        if not self.over:
            names = frame_names(sys._getframe(1), self.keep)
            lists = {"listed": listed, "no_grad": no_grad, "checkpoints": checkpoints}
            call = self._note("append_backward", loss, **lists, names=names, block=loss.block)
            self.appended.append(call)

    def note_gradients(self, targets: Sequence[Any]) -> None:
        """Note a call of ``gradients`` that is being made."""
        if not self.over:
            self._note("gradients", targets[0], block=targets[0].block)

    def began(self, roots: Sequence[Any], how: str, recorded: bool, request: PassRequest | None = None) -> None:
        """Note a backward pass of dynamic mode that is beginning.

        Raises:
            Stopped: there have been enough.
        """
        if self.over or not roots:
            return
        self._go_on()
        if how == "backward":
            if self._has_enough(self.sweeps) and self._is_between_steps():
                self.stop()
            self.sweeps += 1
            state.progress.note(PASSES, self.sweeps, self._most)
        root = roots[0]
        value = float(root.array.reshape(())) if root.spec.count == 1 and root.dtype.is_floating else None
        call = self._note(how, root, names=frame_names(sys._getframe(1), self.keep), recorded=recorded, value=value)
        call.request = request = request or PassRequest()
        inputs = request.inputs if how == "backward" else None
        call.start, call.step = Start.of(roots, request.gradients, inputs), self.updates
        call.parent = self._open[-1].number if self._open else None
        call.roots, call.gradients_given = len(roots), any(g is not None for g in request.gradients)
        self._open.append(call)
        if self.enough():
            call.release()
            return
        if any(before.line == call.line for before in self._kept):
            self._repeated = call.number - 1
        leaving = [b for b in self._kept if b.line == call.line or not self.is_current(b.number)]
        if call.parent is None:
            self._release_left()
        self._leaving += leaving
        gone = {b.number for b in leaving}
        self._kept = [b for b in self._kept if b.number not in gone and b.loss is not None]
        self._kept.append(call)
        self.swept.append(call)

    def note_start(self, gradients: Sequence[Any]) -> None:
        """Note the gradients that were given to the innermost pass, where they were not known when it began."""
        call = None if self.over or not self._open else self._open[-1]
        if call is not None and call.start is not None:
            call.start = replace(call.start, gradients=Start.of(call.start.roots, gradients).gradients)

    def gave(self, gradients: Mapping[Any, Any]) -> None:
        """Note what the innermost pass gave, by place; nothing of it is in ``.grad`` yet."""
        if self.over or not self._open:
            return
        call = self._open[-1]
        self._unequal = [leaf for leaf in gradients if isinstance(leaf, Leaf) and not is_fresh(leaf)]
        gave = self.shares.add(call.number, call.location, gradients) if call.how == "backward" else {}
        if call.start is not None:
            call.gave = gave

    def note_end(self) -> None:
        """Note that the innermost pass is over, or failed."""
        if self.over or not self._open:
            return
        call = self._open.pop()
        held = self.shares.hold(self._unequal)
        call.is_done = True
        self._unequal = []
        if call.parent is None and sys.exc_info()[0] is None:
            self._release_left()
        if call.start is not None:
            call.held = held

    def _release_left(self) -> None:
        """Let go of the passes that the one after them has replaced: it is over, and needs nobody to answer for it."""
        for call in self._leaving:
            self._let_go(call)
        self._leaving = []

    def note_update(self, tensors: Sequence[Any]) -> None:
        """Note that an optimizer is about to update these tensors."""
        if self.over or not tensors:
            return
        self._windows.pop(_BY_HAND, None)
        optimizer, last = (identity(tensors[0]), len(tensors)), len(self.every)
        before = self._windows.get(optimizer, PassWindow(0, 0)).last
        if before < last:
            window = self._windows[optimizer] = PassWindow(before, last)
            self.updates += 1
            self.shares.note_update((t._leaf for t in tensors if t._leaf is not None), window)

    def note_pairs(self, pairs: Sequence[tuple[Any, Any]]) -> None:
        """Note by which gradients an optimizer updates its tensors."""
        if not self.over:
            self.shares.take(pairs)

    def note_write(self, tensor: Any) -> None:
        """Note that the values of a tensor were overwritten: an update by hand, where no optimizer makes updates.

        What gets a gradient and is written next is updated by it, or is at least another tensor then.
        """
        leaf = tensor._leaf
        if self.over or self._open or leaf is None or leaf not in self.shares.by_leaf:
            return
        by_hand, last = self._windows.get(_BY_HAND), len(self.every)
        if len(self._windows) > (by_hand is not None):
            return
        if by_hand is None or by_hand.last < last:
            by_hand = self._windows[_BY_HAND] = PassWindow(0 if by_hand is None else by_hand.last, last)
            self.updates += 1
        self.shares.note_update((), by_hand)

    def _has_enough(self, passes: int) -> bool:
        """Return whether the file has made the passes that it is watched for, and its time is over as well."""
        if passes < self.limit or (self.patience is not None and time.monotonic() < self.begun + self.patience):
            return False
        self._due = self._due or passes
        return True

    def _is_between_steps(self) -> bool:
        """Return whether an update took what the last pass gave, so that a step is over; also where none comes."""
        ends = [w.last for w in self._windows.values()]
        return not ends or max(ends) >= len(self.every) or self.sweeps >= (self._due or 0) + self.limit

    def is_current(self, number: int) -> bool:
        """Return whether the pass of that number belongs to the last step of an optimizer, or to one that has
        not ended.
        """
        windows = self._windows.values()
        return number > max((w.last for w in windows), default=0) or any(w.holds(number) for w in windows)

    def is_recent(self, number: int) -> bool:
        """Return whether the pass of that number is of the last round: of the last step where there are optimizers."""
        return self.is_current(number) and (bool(self._windows) or number > self._repeated)

    def step_passes(self) -> list[PassCall]:
        """The passes of dynamic mode that are asked about together, in their order.

        Of a file that says which pass is meant that one alone; else those of the last step of every optimizer, as
        passes of one step are the parts of one gradient.
        """
        meant = self.target_pass()
        if meant is None or self.which is not None:
            return [] if meant is None else [meant]
        return [
            call
            for call in self.swept
            if call is meant
            or (self.is_current(call.number) and self._counts(call, meant) and call not in self._leaving)
        ]

    @staticmethod
    def _counts(call: PassCall, meant: PassCall) -> bool:
        """Return whether a pass fills ``.grad`` as the one that is meant does, and no other pass runs it."""
        if call.start is None or call.start.loss.stop_gradient:
            return False
        return call.how == meant.how == "backward" and call.parent is None and call.is_done

    def _note(self, how: str, loss: Any, **more: Any) -> PassCall:
        frame = sys._getframe(1)
        call = PassCall(
            len(self.every) + 1, how, loss, source.here(), kind=_public(frame) or how, python=_name(loss, frame), **more
        )
        self.every.append(call)
        return call

    def ran(self, program: Any, feed: Mapping[str, Any]) -> None:
        """Note a run of a program that is about to begin.

        Raises:
            Stopped: there have been enough.
        """
        self.fed.append((program, feed))
        if self.over or not any(call.loss.block.program is program for call in self.appended):
            return
        self._go_on()
        if self._has_enough(self.runs):
            self.stop()
        self.runs += 1
        state.progress.note(PASSES, self.runs, self._most)

    def _go_on(self) -> None:
        """Stop a file again that has gone on, or whose time is over."""
        self.late = self.late or (self.deadline is not None and time.monotonic() > self.deadline)
        if self.late or self.interrupted or self.stopped is not None:
            self.stop()

    def stop(self) -> None:
        """Have the file end where it stands."""
        self.stopped = self.stopped or source.here()
        raise Stopped

    @property
    def _most(self) -> int | None:
        """Number of passes after which the file is stopped; None where nobody knows it."""
        return None if self.limit == ALL or self.patience is not None else self.limit

    @property
    def time_limit(self) -> float | None:
        """Seconds after which the file was stopped; None where passes were counted."""
        return self.seconds if self.late else self.patience

    @property
    def passes(self) -> int:
        """Number of backward passes."""
        return self.sweeps or self.runs

    def _may_be_meant(self, call: PassCall) -> bool:
        if self.which is None:
            return True
        if self.which.startswith("line:"):
            return _stands_at(call, self.which)
        return str(call.number) == self.which

    def _let_go(self, call: PassCall) -> None:
        if self.which is None or not self._may_be_meant(call):
            call.release()

    def mean(self, roots: Sequence[Any]) -> None:
        """Ask about the last pass of dynamic mode that started from one of *roots*, if it is known."""
        for call in reversed(self.swept):
            if any(call.loss is root for root in roots):
                self.which = str(call.number)
                return

    def target_pass(self) -> PassCall | None:
        """The pass of dynamic mode that is asked about: of ``backward`` rather than of ``grad``, and the last one.

        None where there is none, and where a call of ``append_backward`` is asked about.

        Raises:
            CommandError: there is no such pass.
        """
        if self.which is None:
            calls = [call for call in self.swept if call.loss is not None]
            calls = [call for call in calls if call.parent is None] or calls
            by_backward = [call for call in calls if call.how == "backward"]
            return next(reversed(by_backward or calls), None)
        calls = [call for call in self.swept if self._may_be_meant(call)]
        if not calls and not any(map(self._may_be_meant, self.appended)):
            raise self._unknown()
        return next(reversed(calls), None)

    def target_program_pass(self) -> PassCall | None:
        """The call of ``append_backward`` that is asked about.

        Raises:
            CommandError: there is no such call.
        """
        calls = [call for call in self.appended if self._may_be_meant(call)]
        if not calls and self.which is not None:
            raise self._unknown()
        return next(reversed(calls), None)

    def _unknown(self) -> CommandError:
        """The error for a pass that there is not, with the near ones."""
        hint = "the file asked for no backward pass"
        if self.every:
            near = ", ".join(self._nearest_choices(self.which or ""))
            hint = f"there were {len(self.every)}, the nearest is {near}; gradtool backward MODEL --list lists them"
        return CommandError(f"--backward {self.which}: there is no such backward pass", hint)

    def _nearest_choices(self, which: str, most: int = 3) -> list[str]:
        """Return the choices of ``--backward`` near *which*: the nearest first."""
        wanted = which.rpartition(":")[2]
        number = int(wanted) if wanted.isdecimal() else 0
        if not which.startswith("line:"):
            return [str(min(max(number, 1), len(self.every)))]
        lines = {place: None for call in self.every if (place := source.file_and_line(call.location)) is not None}
        nearest = sorted(lines, key=lambda place: abs(place[1] - number))[:most]
        return [f"line:{file.replace(chr(92), '/').rpartition('/')[2]}:{line}" for file, line in nearest]


def _stands_at(call: PassCall, which: str) -> bool:
    place = source.file_and_line(call.location)
    file, _, line = which.removeprefix("line:").rpartition(":")
    if place is None or str(place[1]) != line:
        return False
    return not file or place[0].replace("\\", "/").endswith(file.replace("\\", "/"))


def frame_names(frame: FrameType | None, keep: Callable[[Any], Any] = _as_it_is) -> list[LocalNames]:
    """Return the local names of the user's functions that are running, the outermost first.

    Args:
        keep: gives what is kept of a value.
    """
    names: list[LocalNames] = []
    while frame is not None and len(names) < _MOST_FRAMES:
        module = frame.f_globals.get("__name__", "")
        if module == source.BOUNDARY:
            break
        name = frame.f_code.co_name
        if module.partition(".")[0] not in source.packages and (name == "<module>" or not name.startswith("<")):
            values = {n: keep(v) for n, v in frame.f_locals.items()}
            names.append(LocalNames("" if name == "<module>" else name, values, frame.f_code))
        frame = frame.f_back
    return names[::-1]


def _public(frame: FrameType | None) -> str:
    """The public function that the user's code has called; empty where there is none, as for an operator."""
    name = ""
    while frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] in source.packages:
        name = frame.f_code.co_name
        frame = frame.f_back
    return name if not name.startswith(("_", "<")) else ""


def _name(value: Any, frame: FrameType | None) -> str:
    """Return the user's name for *value* in the code that is running: a local name before one of the module."""
    while frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] in source.packages:
        frame = frame.f_back
    if frame is None:
        return ""
    return next((n for names in (frame.f_locals, frame.f_globals) for n, v in names.items() if v is value), "")
