"""Ending the process where it has not ended soon after Ctrl-C.

Python hears Ctrl-C between two of its own instructions: not inside one long operation of a library, nor while a process
that the script has started lets it wait. Here a thread hears it at once, and ends the process when its time is over.
The thread belongs to no module of Python's, so that a script that counts threads counts its own.
"""

from __future__ import annotations

import _thread
import atexit
import os
import select
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

SECONDS = 1.5
"""From Ctrl-C to the end of the process."""

_STOP = b"\0"

_watch: _Watch | None = None


def end_soon_after_ctrl_c(last: Callable[[], int]) -> None:
    """From now on, end this process soon after Ctrl-C, whatever it does; for a process that is one command alone.

    A script that hears Ctrl-C itself is left alone: then it ends, or goes on, as the script wants.

    Args:
        last: says that the process ends; its result is the exit code.
    """
    global _watch
    if os.name == "posix" and _watch is None and threading.current_thread() is threading.main_thread():
        _watch = _Watch(last)
        atexit.register(_watch.exit)
        os.register_at_fork(before=_watch.stop, after_in_parent=_watch.begin, after_in_child=_forget)


def _forget() -> None:
    """Have a fork hear Ctrl-C as any process does."""
    global _watch
    if _watch is not None:
        _watch.close()
        _watch = None


@contextmanager
def not_ended() -> Iterator[None]:
    """Inside, Ctrl-C ends nothing but what hears it."""
    watch = _watch
    if watch is None:
        yield
        return
    watch.off += 1
    try:
        yield
    finally:
        watch.off -= 1


class _Watch:
    """The thread, and the pipe by which it hears of signals."""

    def __init__(self, last: Callable[[], int]) -> None:
        self.off = 0
        self._last = last
        self._deadline: float | None = None
        self._pid = os.getpid()
        self._ended = _thread.allocate_lock()
        self._read, self._write = os.pipe()
        for descriptor in (self._read, self._write):
            os.set_blocking(descriptor, False)
        before = signal.set_wakeup_fd(self._write, warn_on_full_buffer=False)
        if before != -1:  # whoever runs this process hears of signals: it is no command alone
            signal.set_wakeup_fd(before)
            self.off = 1
        self.begin()

    def begin(self) -> None:
        """Listen."""
        if self._pid == os.getpid():
            self._ended.acquire()
            _thread.start_new_thread(self._listen, ())

    def stop(self) -> None:
        """Have the thread end: a process that forks has only the threads that it has without gradtool."""
        if self._pid == os.getpid():
            os.write(self._write, _STOP)
            self._ended.acquire()
            self._ended.release()

    def close(self) -> None:
        """Hear nothing any more."""
        with suppress(ValueError, OSError):
            now = signal.set_wakeup_fd(-1)
            if now != self._write:
                signal.set_wakeup_fd(now)  # the script's own
        for descriptor in (self._read, self._write):
            with suppress(OSError):
                os.close(descriptor)

    def exit(self) -> None:
        """End the process after Ctrl-C when nothing is left to do: taking large libraries apart has no end in time."""
        if self._deadline is not None and self._pid == os.getpid():
            for stream in (sys.stdout, sys.stderr):
                with suppress(Exception):
                    stream.flush()
            self._end()

    def _listen(self) -> None:
        signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())  # they are the main thread's
        while True:
            left = None if self._deadline is None else max(0.0, self._deadline - time.monotonic())
            if select.select([self._read], [], [], left)[0]:
                heard = os.read(self._read, 4096)
                if _STOP in heard:
                    self._ended.release()
                    return
                if self._deadline is None and signal.SIGINT in heard and self._is_to_end():
                    self._deadline = time.monotonic() + SECONDS
            elif self._is_to_end():
                self._end()
            else:
                self._deadline = None

    def _is_to_end(self) -> bool:
        from . import interrupting  # no command pays for it that is not interrupted

        return not self.off and interrupting.ends_commands(signal.getsignal(signal.SIGINT))

    def _end(self) -> None:
        """End the process, with all that it has begun; nothing half done is left."""
        from ..files import overlay, temporary_files

        code = 1
        try:
            with overlay.leave_overlay():
                _end_others()
                temporary_files.remove()
            code = self._last()
        finally:
            os._exit(code)


def _end_others() -> None:
    """Kill the processes that this one has begun, and what these have; not such as were to stay when it ends."""
    processes = sys.modules.get(f"{__package__}.processes")
    if processes is not None:
        processes.kill_all()
    session = os.getsid(0)
    for pid in _descendants():
        with suppress(OSError):
            if os.getsid(pid) == session:
                os.kill(pid, signal.SIGKILL)


def _descendants() -> list[int]:
    """Return the processes that this one has begun, and what these have; none where the system does not say."""
    from pathlib import Path

    children: dict[int, list[int]] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            _, parent, *_ = path.read_text("utf-8", "replace").rpartition(")")[2].split()
            children.setdefault(int(parent), []).append(int(path.parent.name))
    found = [os.getpid()]
    for pid in found:
        found += children.get(pid, [])
    return found[1:]
