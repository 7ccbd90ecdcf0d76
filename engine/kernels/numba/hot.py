"""Plans that run often: their groups are compiled in a thread of their own, and take their places between two runs.

A run of a plan shows what the groups are made for, as the first one does where the backend is asked for by name: run
:data:`RUNS`, or a later one, once the process has computed for as long as compiling takes. So whoever stops before that
has lost nothing, and nobody loses more than what he has computed anyway. Until then nothing of the compiler is
imported. Until everything is compiled the plan runs on NumPy, and so it does for good where anything fails. Results are
the same to the bit, so nobody can see from them when it was.
"""

from __future__ import annotations

import atexit
import os
import threading
import weakref
from collections import deque
from collections.abc import Iterable, Sequence
from importlib.util import find_spec
from time import process_time
from typing import Any

RUNS = 64
"""The first run of a plan that may show that it is hot."""

OPERATOR = 5e-4
"""Seconds of CPU that compiling takes for each operator of a plan; during them the runs beside it are slower."""

COMPILER = "llvmlite"
"""What has to be installed: Numba's compiler library, which comes with Numba."""

AT_WORK = threading.RLock()
"""Held while the compiler is at work, which must not be when the process ends or is forked."""


class Heat:
    """Counts the runs of a plan.

    A block of a program counts the runs of programs in which it runs, not its own: a graph that runs once compiles
    nothing, however many rounds its loops have.
    """

    programs = 0
    """How many runs of programs that are not hot yet have begun in this process."""

    def __init__(self, plan: Any) -> None:
        self._plan = weakref.ref(plan)
        self._left = RUNS
        self._begun = process_time()
        self._during = -1

    def __call__(self, steps: Iterable[Any]) -> bool:
        """Carry the plan out by its *steps* if this is the run to be seen; False where it has to do that itself."""
        plan: Any = self._plan()  # it is running
        if plan.inputs is not None:
            Heat.programs += 1
        elif self._during == Heat.programs:
            return False
        self._during = Heat.programs
        self._left -= 1
        if self._left > 0 or process_time() - self._begun < OPERATOR * len(plan.instructions):
            return False
        plan.tuning = None
        if find_spec(COMPILER) is None:
            return False
        from .tuning import observe

        sights = observe(plan, steps)
        _worker.add(plan, sights)
        return True


class _Worker:
    """The thread that compiles; there is one while there is something to compile."""

    def __init__(self) -> None:
        self._plans: deque[tuple[weakref.ref[Any], Sequence[Any]]] = deque()
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._listening = False
        self._stopped = False

    def add(self, plan: Any, sights: Sequence[Any]) -> None:
        """Have the groups of *plan* compiled, when those that came before are."""
        with self._lock:
            if self._stopped:
                return
            if not self._listening:
                self._listening = True
                atexit.register(self.stop)
            self._plans.append((weakref.ref(plan), sights))
            if self._thread is None:
                thread = threading.Thread(target=self._work, name="gradtool compiles", daemon=True)
                try:
                    thread.start()
                except RuntimeError:  # there can be no more threads
                    self._plans.clear()
                else:
                    self._thread = thread

    def stop(self) -> None:
        """Compile nothing from now on; waits for the function that is being compiled, a fraction of a second."""
        self._stopped = True
        with AT_WORK:
            pass

    def wait(self) -> None:
        """Until there is nothing to compile."""
        thread = self._thread
        if thread is not None:
            thread.join()

    def _work(self) -> None:
        while True:
            with self._lock:
                if not self._plans or self._stopped:
                    self._thread = None
                    return
                plan, sights = self._plans.popleft()
            try:
                self._tune(plan, sights)
            except Exception:  # whatever is wrong with a compiler: the plan goes on without
                continue

    def _tune(self, reference: weakref.ref[Any], sights: Sequence[Any]) -> None:
        with AT_WORK:
            if self._stopped:
                return
            from .compiling import compile_source  # LLVM is imported with it
            from .tuning import fuse

        plan = reference()
        if plan is None:
            return
        steps, kernels = fuse(plan, sights)
        for kernel in kernels:
            with AT_WORK:
                if self._stopped:
                    return
                kernel.compile(compile_source)
        plan.carry_out(steps)

    def begin_anew(self) -> None:
        """In a process that was forked: without the thread, and what it was to compile."""
        self._plans.clear()
        self._lock, self._thread = threading.Lock(), None


_worker = _Worker()


def _restart_worker() -> None:
    AT_WORK.release()
    _worker.begin_anew()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=AT_WORK.acquire, after_in_parent=AT_WORK.release, after_in_child=_restart_worker)


def wait() -> None:
    """Come back when everything is compiled that is hot by now."""
    _worker.wait()
