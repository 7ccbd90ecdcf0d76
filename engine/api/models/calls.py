"""The backward passes that a model file asks for: which there were, which one is meant, and when there were enough.

What is asked about is what was backpropagated. A variable that is called ``loss`` at the end of a script may be a
validation loss that has no graph; the loss of a backward pass has one.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import FrameType
from typing import Any

from gradtool.engine.core import source
from gradtool.engine.core.source import Location

from .errors import CommandError
from .limits import ALL

_MOST_FRAMES = 32
"""Frames of a user's stack whose names are kept: an endless recursion has more."""


class Stopped(BaseException):
    """There were enough backward passes; raised in the user's code where the next one begins.

    No :class:`Exception`: what a script does about errors is for its own. Its ``finally`` blocks run, and its files are
    closed.
    """


@dataclass(frozen=True, slots=True)
class Names:
    """What a function that was running when a backward pass began calls its values.

    Attributes:
        function: its name; empty for the module.
    """

    function: str
    values: Mapping[str, Any]


@dataclass
class PassCall:
    """A call of ``backward``, ``grad`` or ``append_backward`` that a model file made.

    Attributes:
        number: counts all of them from 1.
        how: the public function.
        loss: what it started from: the first, if there were several. None once it has been let go of.
        listed: the parameter list of ``append_backward``; None for all.
        no_grad: its no-grad set.
        location: the user's line.
        names: of the functions that were running, the outermost first; dynamic mode only.
        recorded: whether it made a graph itself (``create_graph``).
    """

    number: int
    how: str
    loss: Any
    location: Location
    listed: Any = None
    no_grad: Any = None
    names: Sequence[Names] = ()
    recorded: bool = False


@dataclass
class PassCalls:
    """Listens to a model file's calls.

    Attributes:
        which: the pass that is meant: ``None`` for the last one, a number, or ``line:FILE:LINE``.
        limit: after so many passes the file is stopped where it asks for one more.
        appended: calls of ``append_backward``, in their order.
        swept: backward passes of dynamic mode, in their order; all but those that may be meant have let go of their
            loss.
        fed: programs that were run, each with its feed.
        runs: how many of these runs were of programs that hold a backward part.
        sweeps: how many of the passes of dynamic mode were asked for by ``backward``.
        stopped: where the file was stopped.
    """

    which: str | None = None
    limit: int = ALL
    appended: list[PassCall] = field(default_factory=list)
    swept: list[PassCall] = field(default_factory=list)
    fed: list[tuple[Any, Mapping[str, Any]]] = field(default_factory=list)
    runs: int = 0
    sweeps: int = 0
    stopped: Location | None = None
    over: bool = False
    """Whether the file is done: what computes from now on is gradtool itself."""

    def called(self, loss: Any, listed: Any, no_grad: Any) -> None:
        """Note a call of ``append_backward`` that is being made."""
        call = PassCall(len(self.appended) + 1, "append_backward", loss, source.here(), listed, no_grad)
        self.appended.append(call)

    def began(self, roots: Sequence[Any], how: str, recorded: bool) -> None:
        """Note a backward pass of dynamic mode that is beginning.

        Raises:
            Stopped: there have been enough.
        """
        if self.over or not roots:
            return
        if how == "backward":
            if self.sweeps >= self.limit:
                self.stop()
            self.sweeps += 1
        call = PassCall(
            len(self.swept) + 1, how, roots[0], source.here(), names=running(sys._getframe(1)), recorded=recorded
        )
        for before in self.swept[-2:]:
            if not self._may_be_meant(before) or before.how == how:
                self._let_go(before)
        self.swept.append(call)

    def ran(self, program: Any, feed: Mapping[str, Any]) -> None:
        """Note a run of a program that is about to begin.

        Raises:
            Stopped: there have been enough.
        """
        self.fed.append((program, feed))
        if self.over or not any(call.loss.block.program is program for call in self.appended):
            return
        if self.runs >= self.limit:
            self.stop()
        self.runs += 1

    def stop(self) -> None:
        """Have the file end where it stands."""
        self.stopped = source.here()
        raise Stopped

    @property
    def passes(self) -> int:
        """How many backward passes there were."""
        return self.sweeps or self.runs

    def _may_be_meant(self, call: PassCall) -> bool:
        if self.which is None:
            return True
        if self.which.startswith("line:"):
            return _stands_at(call, self.which)
        return str(call.number) == self.which

    def _let_go(self, call: PassCall) -> None:
        if self.which is None or not self._may_be_meant(call):
            call.loss, call.names = None, ()

    def meant(self) -> PassCall | None:
        """The pass of dynamic mode that is asked about: of ``backward`` rather than of ``grad``, and the last one.

        Raises:
            CommandError: there is no such pass.
        """
        if self.which is None:
            calls = [call for call in self.swept if call.loss is not None]
            by_backward = [call for call in calls if call.how == "backward"]
            return next(reversed(by_backward or calls), None)
        calls = [call for call in self.swept if self._may_be_meant(call)]
        if not calls:
            raise CommandError(f"--backward {self.which}: there is no such backward pass", self._hint())
        return calls[-1]

    def meant_in_programs(self) -> PassCall | None:
        """The call of ``append_backward`` that is asked about.

        Raises:
            CommandError: there is no such call.
        """
        calls = [call for call in self.appended if self._may_be_meant(call)]
        if not calls and self.which is not None:
            raise CommandError(f"--backward {self.which}: there is no such backward pass", self._hint())
        return next(reversed(calls), None)

    def _hint(self) -> str:
        calls = self.swept or self.appended
        if not calls:
            return "the file ran no backward pass"
        lines = dict.fromkeys(source.short(call.location) for call in calls)
        return f"there were {len(calls)}, at {', '.join(lines)}"


def _stands_at(call: PassCall, which: str) -> bool:
    place = source.file_and_line(call.location)
    file, _, line = which.removeprefix("line:").rpartition(":")
    if place is None or str(place[1]) != line:
        return False
    return not file or place[0].replace("\\", "/").endswith(file.replace("\\", "/"))


def running(frame: FrameType | None) -> list[Names]:
    """What the user's functions that are running call their values, the outermost first."""
    names: list[Names] = []
    while frame is not None and len(names) < _MOST_FRAMES:
        module = frame.f_globals.get("__name__", "")
        if module == source.BOUNDARY:
            break
        name = frame.f_code.co_name
        if module.partition(".")[0] != "gradtool" and (name == "<module>" or not name.startswith("<")):
            names.append(Names("" if name == "<module>" else name, dict(frame.f_locals)))
        frame = frame.f_back
    return names[::-1]
