"""Processes that answer lines of JSON with lines of JSON: begun when they are needed, anew when they have ended.

What the user's code does to such a process, it does to no other: one that ends, hangs or eats all memory is told of.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Final
from weakref import WeakSet

from ..kernels import threads
from . import streams

if TYPE_CHECKING:
    import subprocess

READY: Final = b"ready\n"
"""What comes first, when the engine is loaded: from then on a model takes time."""


class ProcessEnded(Exception):
    """A process ended, or was ended, before it had answered.

    Attributes:
        code: its exit code; a negative one is the number of a signal.
        late: whether its time was over.
    """

    def __init__(self, code: int, late: bool) -> None:
        super().__init__(code, late)
        self.code = code
        self.late = late


class Over(Exception):
    """A process was asked that has been ended for good: nobody waits for the answer any more."""


class Process:
    """A process that answers, computing on one thread unless ``GRADTOOL_THREADS`` says otherwise: there are several.

    Args:
        module: what it runs.
        arguments: its words.
        folder: its working folder; None for this process's.
    """

    def __init__(self, module: str, arguments: Sequence[str] = (), folder: str | None = None) -> None:
        self._folder = folder
        # -P: what lies in the current folder is not imported in place of Python's own modules.
        self._words = [sys.executable, "-P", "-m", module, *arguments]
        self._process: subprocess.Popen[bytes] | None = None
        self._over = False
        _all.add(self)

    @property
    def runs(self) -> bool:
        """True if it has been begun and has not ended."""
        return self._process is not None and self._process.poll() is None

    def ask(self, question: Any) -> None:
        """Send a line.

        Raises:
            Ended: it has ended before it has read it.
            Over: it has been ended for good.
            RuntimeError: it does not begin.
        """
        begun = self._begin()
        assert begun.stdin is not None
        try:
            begun.stdin.write(json.dumps(question).encode() + b"\n")
            begun.stdin.flush()
        except OSError:
            raise ProcessEnded(self._wait(begun), late=False) from None

    def answer(self, timeout: float | None = None) -> Any:
        """The next line.

        Args:
            timeout: seconds after which it is ended.

        Raises:
            Ended: there is no such line.
        """
        begun = self._process
        assert begun is not None
        assert begun.stdout is not None
        with self._watch(timeout) as late:
            try:
                line = begun.stdout.readline()
            except OSError:
                line = b""
        if not line.endswith(b"\n"):
            raise ProcessEnded(self._wait(begun), late.is_set())
        return json.loads(line)

    @contextmanager
    def _watch(self, timeout: float | None) -> Iterator[threading.Event]:
        late = threading.Event()
        if timeout is None:
            yield late
            return
        timer = threading.Timer(timeout, self._give_up, (late,))
        timer.daemon = True
        timer.start()
        try:
            yield late
        finally:
            timer.cancel()

    def _begin(self) -> subprocess.Popen[bytes]:
        if self._over:
            raise Over
        if not self.runs:
            import subprocess  # of no use where what came of models is known already

            if self._process is not None:
                self._wait(self._process)  # it has ended unasked
            # What a library has set behind Python's back (readline: COLUMNS) is no part of the environment.
            own: dict[str, Any] = {
                "env": {
                    **threads.environment(threads.environment_count() or 1),
                    **os.environ,
                    **streams.describe_terminals(),
                },
                "start_new_session": os.name == "posix",
                "cwd": self._folder,
            }
            begun = self._process = subprocess.Popen(self._words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, **own)
            assert begun.stdout is not None
            ready = begun.stdout.readline() == READY
            if self._over:  # another thread has ended it for good meanwhile, perhaps before there was one to end
                self.stop()
                raise Over
            if not ready:
                raise RuntimeError(f"a process for models did not begin: {' '.join(self._words)}")
        assert self._process is not None
        return self._process

    def _give_up(self, late: threading.Event) -> None:
        late.set()
        self._kill()

    def _kill(self) -> None:
        if self._process is None:
            return
        with suppress(ProcessLookupError, PermissionError):
            if os.name == "posix":
                os.killpg(self._process.pid, signal.SIGKILL)  # with all that its models have started
            else:
                self._process.kill()

    def _wait(self, begun: subprocess.Popen[bytes]) -> int:
        code = begun.wait()
        self._process = None
        for stream in (begun.stdin, begun.stdout):
            with suppress(OSError):
                if stream is not None:
                    stream.close()
        return code

    def stop(self) -> None:
        """End it; the next question begins another one."""
        begun = self._process
        if begun is not None:
            self._kill()
            self._wait(begun)

    def end(self) -> None:
        """End it for good."""
        self._over = True
        self.stop()


_all: WeakSet[Process] = WeakSet()


def kill_all() -> None:
    """Kill every process that runs, and wait for none."""
    for process in list(_all):
        process._kill()


@contextmanager
def end_all(processes: Sequence[Process]) -> Iterator[None]:
    """Leave no process behind, also at Ctrl-C."""
    try:
        yield
    finally:
        for process in processes:
            process.end()


def how_it_ended(code: int) -> str:
    """``with exit code 3``, ``with SIGSEGV``."""
    return f"with {_signal(-code)}" if code < 0 else f"with exit code {code}"


def _signal(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
