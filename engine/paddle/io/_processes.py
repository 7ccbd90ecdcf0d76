"""Workers of a loader as processes: each is a fork with its own copy of the data set and its own random numbers."""

from __future__ import annotations

import contextlib
import itertools
import multiprocessing
import os
import pickle
import queue
import random
import signal
import sys
import traceback
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from multiprocessing.connection import Connection, wait
from typing import Any

import numpy as np

from gradtool.engine.core import source, watch
from gradtool.engine.core.errors import UsageError
from gradtool.engine.eager.tensor import Tensor

from ._collate import mapped
from ._workers import WorkerInfo, current

LOOK_AFTER = 2.0
"""Seconds after which an idle worker looks whether the process that began it is still there."""

END = object()
"""What a worker answers whose stream is over."""


class WorkerError(UsageError, RuntimeError):
    """A worker ended or did not answer in time (Paddle raises RuntimeError)."""


def in_processes() -> bool:
    """Return whether workers are processes here.

    They are not where gradtool runs the script: what they read is asked about like anything else, errors come where
    they happened, and nothing is run twice. Nor are they where processes cannot be forked, or may have no children.
    """
    if source.BOUNDARY in sys.modules or multiprocessing.current_process().daemon:
        return False
    return sys.platform.startswith("linux") and "fork" in multiprocessing.get_all_start_methods()


class Sent:
    """A tensor on its way between processes."""

    def __init__(self, array: Any) -> None:
        self.array = array


class Crew:
    """The workers of a loader, which answer requests in the order in which they got them.

    Args:
        read: called in a worker with its number gives a function of a request that gives the answer; an answer that
            is :data:`END` says that nothing follows.
        timeout: how many seconds to wait for an answer; 0: as long as it takes.
    """

    def __init__(
        self, infos: list[WorkerInfo], read: Callable[[WorkerInfo], Callable[[Any], Any]], timeout: float
    ) -> None:
        context = multiprocessing.get_context("fork")
        self._timeout = timeout
        self._requests: list[Any] = []
        self._answers: list[Connection] = []
        self._processes: list[Any] = []
        for info in infos:
            ours, theirs = context.Pipe(duplex=False)
            requests = context.Queue()
            process = context.Process(
                target=_work, args=(info, read, requests, theirs, os.getpid()), daemon=True, name=f"worker {info.id}"
            )
            with warnings.catch_warnings():  # of threads, which numerical libraries start: they know how to be forked
                warnings.simplefilter("ignore", DeprecationWarning)
                warnings.filterwarnings(
                    "ignore", r"os\.fork\(\) was called", RuntimeWarning
                )  # JAX: workers use none of it
                process.start()
            theirs.close()
            self._requests.append(requests)
            self._answers.append(ours)
            self._processes.append(process)

    def in_turn(self, requests: Iterable[Any], ahead: int) -> Iterator[Any]:
        """The answers, in the order of the requests; each goes to the next worker that is not at its end.

        Args:
            ahead: how many requests a worker has at most.
        """
        left = iter(requests)
        asked: deque[int] = deque()
        turns = itertools.cycle(range(len(self._processes)))
        for request in itertools.islice(left, ahead * len(self._processes)):
            asked.append(next(turns))
            self._requests[asked[-1]].put(request)
        while asked:
            worker = asked.popleft()
            answer = self._answer(worker)
            if answer is END:
                continue  # what it was asked besides is answered so as well
            for request in itertools.islice(left, 1):
                self._requests[worker].put(request)
                asked.append(worker)
            yield answer

    def _answer(self, worker: int) -> Any:
        connection, process = self._answers[worker], self._processes[worker]
        ready = wait([connection, process.sentinel], self._timeout or None)
        if not ready:
            raise WorkerError(
                f"DataLoader worker({worker}) gave no batch within timeout={self._timeout:g} seconds.",
                hint="read faster, or give a larger timeout (0: wait as long as it takes)",
            )
        try:
            kind, value = pickle.loads(connection.recv_bytes())
        except EOFError:
            process.join()
            raise WorkerError(
                f"DataLoader worker({worker}) ended with exit code {process.exitcode} before its batch was read.",
                hint="run with num_workers=0 to see what it does",
            ) from None
        if kind == "error":
            _raise(worker, *value)
        if kind == "end":
            return END
        return mapped(value, lambda v: Tensor(v.array) if isinstance(v, Sent) else v)

    def close(self) -> None:
        """End the workers."""
        if not self._processes:
            return
        for process in self._processes:
            process.terminate()
        for process, requests, answers in zip(self._processes, self._requests, self._answers, strict=True):
            process.join()
            requests.cancel_join_thread()
            requests.close()
            answers.close()
        self._processes = []

    def __del__(self) -> None:
        self.close()


def _raise(worker: int, kind: type, text: str) -> None:
    """Raise the error of a worker, with where it happened there."""
    message = f"DataLoader worker({worker}) caught {kind.__name__} with message:\n{text}"
    try:
        error = kind(message)
    except Exception:
        error = WorkerError(message)
    raise error


def _work(
    info: WorkerInfo,
    read: Callable[[WorkerInfo], Callable[[Any], Any]],
    requests: Any,
    answers: Connection,
    parent: int,
) -> None:
    """Answer requests until the worker is ended, or until its parent is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that trains, and ends its workers
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    np.random.seed(info.seed % 2**32)
    random.seed(info.seed)
    current.set(info)
    with watch.pause_watchers(), contextlib.suppress(BrokenPipeError):
        try:
            answer = read(info)
        except Exception as error:
            _send_error(answers, error)
            return
        while True:
            try:
                request = requests.get(timeout=LOOK_AFTER)
            except queue.Empty:
                if os.getppid() != parent:
                    return
                continue
            try:
                _send(answers, answer(request))
            except BrokenPipeError:
                return
            except Exception as error:
                _send_error(answers, error)


def _send(answers: Connection, value: Any) -> None:
    if value is END:
        answers.send_bytes(pickle.dumps(("end", None)))
        return
    sent = mapped(value, lambda v: Sent(np.asarray(v.array)) if isinstance(v, Tensor) else v)
    answers.send_bytes(pickle.dumps(("batch", sent), protocol=pickle.HIGHEST_PROTOCOL))


def _send_error(answers: Connection, error: Exception) -> None:
    text = "".join(traceback.format_exception(error))
    try:
        data = pickle.dumps(("error", (type(error), text)))
    except Exception:
        data = pickle.dumps(("error", (RuntimeError, text)))
    answers.send_bytes(data)
