"""The streams that a script writes to: they look as without gradtool, and lead to standard error.

Standard output is for answers. A script sees streams of its own in place of ``sys.stdout`` and ``sys.stderr``: with the
interpreter's encoding, with descriptors 1 and 2, and terminals where these are some. It may close them, detach them,
set their encoding anew; gradtool's own stay as they are. While its code runs, descriptor 1 leads to standard error too:
for what writes past Python's streams, and for new processes.
"""

from __future__ import annotations

import contextlib
import io
import os
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from contextvars import ContextVar
from typing import Any, Final, TextIO

OUT: Final = 1
ERR: Final = 2

muted: ContextVar[bool] = ContextVar("gradtool_model_muted", default=False)
"""True while nothing is shown of what a script prints."""

hearers: list[Callable[[bytes], None]] = []
"""Who is given what scripts write to their streams."""

_NAMES: Final = {OUT: "stdout", ERR: "stderr"}


class _Descriptor(io.RawIOBase):
    """A descriptor as a script sees it: it leads to standard error, also when the script's code has come to its end."""

    def __init__(self, number: int) -> None:
        self._number = number
        self.name = f"<{_NAMES[number]}>"
        self.mode = "wb"

    def fileno(self) -> int:
        return self._number

    def isatty(self) -> bool:
        return _output.is_terminal(self._number)

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        """Write bytes, and return the number of those written."""
        if muted.get():
            return len(data)
        for hear in hearers:
            hear(bytes(data))
        return os.write(self._number if _output.is_turned else ERR, data)


class _Answers(io.TextIOWrapper):
    """Standard output while threads of a script live on: it takes what the command's own thread writes.

    Args:
        descriptor: where answers go.
        like: the stream that it stands for.
        theirs: finds the script's, which takes what other threads write.
    """

    def __init__(self, descriptor: int, like: Any, theirs: Callable[[], Any]) -> None:
        file = open(descriptor, "wb", closefd=False)  # noqa: SIM115
        super().__init__(file, encoding=like.encoding, errors=like.errors, line_buffering=like.line_buffering)
        self._owner = threading.get_ident()
        self._theirs = theirs

    def write(self, text: str) -> int:
        """Write *text* to the answers, or to the script's stream."""
        if threading.get_ident() != self._owner:
            return self._theirs().write(text)  # type: ignore[no-any-return]
        return super().write(text)


class _Output:
    """The descriptor of standard output, which leads to standard error while anybody wants that.

    Attributes:
        terminals: the descriptors that are terminals, where somebody has said so: those of another process.
        of_command: whether this process is one command and no more.
    """

    def __init__(self) -> None:
        self.terminals: frozenset[int] | None = None
        self.of_command = False
        self._lock = threading.Lock()
        self._depth = 0
        self._kept: dict[int, int] = {}
        self._threads: frozenset[threading.Thread] = frozenset()
        self._functions: dict[str, Any] = {}

    @property
    def is_turned(self) -> bool:
        """True while descriptor 1 leads to standard error."""
        return bool(self._kept)

    @property
    def is_busy(self) -> bool:
        """True while code of a script runs."""
        return self._depth > 0

    @property
    def answers(self) -> int:
        """The descriptor of standard output as it was."""
        return self._kept.get(OUT, OUT)

    def is_terminal(self, number: int) -> bool:
        """Return whether descriptor *number* is a terminal without gradtool."""
        if self.terminals is not None:
            return number in self.terminals
        isatty = self._functions.get("isatty", os.isatty)
        return bool(isatty(self._kept.get(number, number)))

    def turn(self, nowhere: bool = False) -> None:
        """Let it lead to standard error, or *nowhere*; where one of both is closed, nothing happens."""
        with self._lock:
            self._depth += 1
            if self._depth > 1:
                return
            _flush()
            if not self._kept:
                self._threads = frozenset(threading.enumerate())
                with contextlib.suppress(OSError):
                    os.fstat(ERR)
                    self._kept = {OUT: os.dup(OUT), ERR: os.dup(ERR)}
                    os.dup2(ERR, OUT)
                    if nowhere:
                        _lead_nowhere(OUT)
            self._replace_functions()

    def turn_back(self) -> bool:
        """Let it lead where it led before, once nobody wants it otherwise.

        Returns:
            False if it goes on leading to standard error, since threads of the script live on.
        """
        with self._lock:
            self._depth -= 1
            if self._depth:
                return True
            _flush()
            for name, function in self._functions.items():
                setattr(os, name, function)
            self._functions = {}
            if not self._kept:
                return True
            if self.of_command and not self._threads.issuperset(threading.enumerate()):
                return False
            for number, kept in self._kept.items():
                os.dup2(kept, number)
                os.close(kept)
            self._kept = {}
            return True

    def _replace_functions(self) -> None:
        """Let functions that look at descriptor 1 see what it is without gradtool."""
        if not self._kept:
            return
        self._functions = {name: getattr(os, name) for name in _LOOKING if hasattr(os, name)}
        for name, function in self._functions.items():
            setattr(os, name, _query_kept(function, self.answers))
        if self.terminals is not None:
            isatty = self._functions["isatty"]
            os.isatty = lambda fd, /: self.is_terminal(fd) if fd in _NAMES else isatty(fd)


def _lead_nowhere(number: int) -> None:
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, number)
    os.close(nothing)


_LOOKING: Final = ("isatty", "ttyname", "get_terminal_size", "fstat")
"""Functions of :mod:`os` that say what a descriptor is."""


def _query_kept(function: Any, kept: int) -> Any:
    def query(fd: int = OUT, /, *args: Any) -> Any:
        return function(kept if fd == OUT else fd, *args)

    return query


def _flush(streams: Iterable[Any] = ()) -> None:
    """Write out what Python's streams of this process, *streams* and C's hold."""
    for stream in (sys.__stdout__, sys.__stderr__, sys.stdout, sys.stderr, *streams):
        with contextlib.suppress(OSError, ValueError, AttributeError):
            stream.flush()
    ctypes = sys.modules.get("ctypes")
    if ctypes is not None:
        with contextlib.suppress(AttributeError, OSError):
            ctypes.pythonapi.fflush(None)


_output = _Output()

_NAMES_OF_SYS: Final = ("stdout", "stderr", "__stdout__", "__stderr__")

_left: dict[str, Any] = {}
"""By name in :mod:`sys`, the stream that the script which runs has there; none before it runs."""


def forget() -> None:
    """Let the next code of a user's begin with streams as the interpreter has them: it is another run."""
    _left.clear()


@contextlib.contextmanager
def give_streams() -> Iterator[None]:
    """Inside runs code of a script, with streams of its own."""
    if _output.is_busy and isinstance(_raw(sys.__stdout__), _Descriptor):
        yield  # it has them
        return
    if not _are_the_interpreters():
        with _lead_to_stderr():
            yield
        return
    before = {name: getattr(sys, name) for name in _NAMES_OF_SYS}
    if not _left:
        _left.update(_open_streams())
    _output.turn(nowhere=muted.get())
    vars(sys).update(_left)
    try:
        yield
    finally:
        _left.update({name: getattr(sys, name) for name in _NAMES_OF_SYS})
        _flush(_left.values())
        vars(sys).update(before)
        if not _output.turn_back() and not are_apart():
            sys.stdout = _Answers(_output.answers, sys.stdout, lambda: _left["stdout"])


def _raw(stream: Any) -> Any:
    return getattr(getattr(stream, "buffer", None), "raw", None)


def _are_the_interpreters() -> bool:
    """Return whether Python's streams are those that it has opened itself, and no test's or notebook's."""
    streams = (sys.stdout, sys.stderr)
    try:
        like_them = all(hasattr(s, name) for s in streams for name in ("encoding", "errors", "line_buffering"))
        return like_them and [s.fileno() for s in streams] == [OUT, ERR]
    except (AttributeError, OSError, ValueError):
        return False


def _open_streams() -> dict[str, TextIO]:
    """Return streams for a script by their names in :mod:`sys`."""
    streams: dict[str, TextIO] = {}
    for number, name in _NAMES.items():
        plain = getattr(sys, name)
        file = io.BufferedWriter(_Descriptor(number))
        # What goes to both comes in its order, as on a terminal.
        stream = io.TextIOWrapper(file, encoding=plain.encoding, errors=plain.errors, line_buffering=True)
        vars(stream)["mode"] = "w"
        streams[name] = streams[f"__{name}__"] = stream
    return streams


@contextlib.contextmanager
def _lead_to_stderr() -> Iterator[None]:
    """Inside, standard output is standard error, where streams are no interpreter's."""
    _output.turn(nowhere=muted.get())
    try:
        with silence(), contextlib.redirect_stdout(sys.stderr):
            yield
    finally:
        _output.turn_back()


@contextlib.contextmanager
def silence() -> Iterator[None]:
    """Inside, nothing is shown of what is printed, if that is muted."""
    if not muted.get():
        yield
        return
    with (
        open(os.devnull, "w", encoding="utf-8") as nowhere,
        contextlib.redirect_stdout(nowhere),
        contextlib.redirect_stderr(nowhere),
    ):
        yield


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Inside, nothing is shown, of scripts and of gradtool's own."""
    token = muted.set(True)
    streams = _open_streams() if _are_the_interpreters() else {"stdout": io.StringIO(), "stderr": io.StringIO()}
    try:
        with contextlib.redirect_stdout(streams["stdout"]), contextlib.redirect_stderr(streams["stderr"]):
            yield
    finally:
        muted.reset(token)


def are_apart() -> bool:
    """Return whether answers have a stream of their own, which is to stay while threads of a script live on."""
    return isinstance(sys.stdout, _Answers)


def leave_to_scripts() -> None:
    """Let standard output lead to standard error for good: the command has answered, and threads may go on."""
    if _left:
        _output.turn()
        vars(sys).update(_left)


def mark_one_command() -> None:
    """Say that this process is one command and no more."""
    _output.of_command = True


VARIABLE: Final = "GRADTOOL_TERMINALS"
"""A variable of the environment by which a process of gradtool's says to another one what its terminals are."""


def describe_terminals() -> dict[str, str]:
    """Return the variable for another process."""
    return {VARIABLE: " ".join(str(number) for number in _NAMES if _output.is_terminal(number))}


def hear_terminals() -> None:
    """Take the variable from the environment, and believe it."""
    said = os.environ.pop(VARIABLE, None)
    if said is not None:
        _output.terminals = frozenset(map(int, said.split()))
