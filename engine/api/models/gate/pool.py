"""Models checked side by side, each in a process of its own (:mod:`.worker`).

One that ends its process, or that comes to no end, is a finding about that model; the others are checked all the same.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from . import process
from .checked import Checked, Job
from .worker import READY

Done = Callable[[int, Checked], None]


def check(jobs: Sequence[Job], side_by_side: int, done: Done = lambda number, result: None) -> list[Checked]:
    """Check models.

    Args:
        side_by_side: how many at a time.
        done: is told of each, in the order in which they come to their end, from one thread at a time.

    Returns:
        What comes of each, in the order of *jobs*.

    Raises:
        RuntimeError: gradtool itself failed.
    """
    results: dict[int, Checked] = {}
    failures: dict[int, BaseException] = {}
    left = iter(range(len(jobs)))
    lock = threading.Lock()
    workers = [_Worker() for _ in range(max(1, min(side_by_side, len(jobs))))]

    def work(worker: _Worker) -> None:
        while not failures:
            with lock:
                number = next(left, None)
            if number is None:
                return
            try:
                result = worker.checked(jobs[number])
            except BaseException as error:
                failures[number] = error
                return
            with lock:
                results[number] = result
                done(number, result)

    with _ended(workers):
        threads = [threading.Thread(target=work, args=(worker,), daemon=True) for worker in workers]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    if failures:
        raise failures[min(failures)]
    return [results[number] for number in range(len(jobs))]


@contextmanager
def _ended(workers: Sequence[_Worker]) -> Iterator[None]:
    """Leave no process behind, also at Ctrl-C."""
    try:
        yield
    finally:
        for worker in workers:
            worker.end()


class _Worker:
    """A process that checks models, begun when it is needed and anew when it has ended."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._over = False

    def checked(self, job: Job) -> Checked:
        """What comes of a job."""
        begun = self._begun()
        assert begun.stdin is not None
        assert begun.stdout is not None
        late = threading.Event()
        timer = None
        if job.timeout is not None:
            timer = threading.Timer(job.timeout, self._give_up, (late,))
            timer.daemon = True
            timer.start()
        try:
            begun.stdin.write(json.dumps(job.data()).encode() + b"\n")
            begun.stdin.flush()
            line = begun.stdout.readline()
        except OSError:  # it has ended before it has read the job
            line = b""
        finally:
            if timer is not None:
                timer.cancel()
        if not line.endswith(b"\n"):
            code = self._left(begun)
            if late.is_set():
                assert job.timeout is not None
                return Checked(findings=[process.timed_out(job.subject, job.timeout)])
            return Checked(findings=[process.crashed(job.subject, code, "")])
        return self._read(job, json.loads(line))

    def _read(self, job: Job, answer: dict[str, Any]) -> Checked:
        if answer["status"] == "failed":
            raise RuntimeError(f"while {job.subject.name} was checked:\n{answer['error']}")
        if answer["status"] == "ended":
            said = answer["said"]
            return Checked(findings=[process.crashed(job.subject, answer["code"], said)], said=said)
        return Checked.of({**answer["result"], "said": answer["said"]})

    def _begun(self) -> subprocess.Popen[bytes]:
        if self._over:
            raise KeyboardInterrupt
        if self._process is None or self._process.poll() is not None:
            # -P: what lies in the current folder is not imported in place of Python's own modules.
            words = [sys.executable, "-P", "-m", "gradtool.models.gate.worker"]
            # What a library has set behind Python's back (readline: COLUMNS) is no part of the environment.
            own: dict[str, Any] = {"env": dict(os.environ), "start_new_session": os.name == "posix"}
            self._process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, **own)
            assert self._process.stdout is not None
            if self._process.stdout.readline() != READY and not self._over:
                raise RuntimeError(f"a process that checks models did not begin: {' '.join(words)}")
        process: subprocess.Popen[bytes] = self._process
        return process

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

    def _left(self, begun: subprocess.Popen[bytes]) -> int:
        code = begun.wait()
        self._process = None
        for stream in (begun.stdin, begun.stdout):
            with suppress(OSError):
                if stream is not None:
                    stream.close()
        return code

    def end(self) -> None:
        """End the process."""
        self._over = True
        begun = self._process
        if begun is not None:
            self._kill()
            self._left(begun)
