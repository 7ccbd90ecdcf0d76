"""Points on the workers of a Dask cluster: one that is begun here and listens on no port, or one that is there already.

Points go in groups that take about a second each, so that what a group costs beside them does not matter. A worker
has a process of its own for the points (:mod:`.processes`): what they do to that is a row, the worker lives on.
Where a worker is lost all the same, its group is carried out by another one: also when it had carried it out and
nobody had taken the rows yet, which Dask keeps at the worker.
"""

from __future__ import annotations

import os
import threading
import time
from collections import deque
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from typing import Any, Final

from ...core.command_errors import CommandError, PackageNeeded
from ...script.interrupting import ignore_interrupts
from ...script.processes import Over
from .. import content
from ..axes import Axes
from ..point import Point
from ..point_rows import CRASHED, row_without_answer
from ..spec import Spec
from ..sweep import Means
from . import Keyed, Row
from .processes import ProcessRunner

SECONDS: Final = 1.0
"""What a group of points is to take."""
WAIT: Final = "10s"
"""How long a scheduler may take to answer."""
_AHEAD: Final = 2
"""Groups for each worker that are on their way."""
_carriers: dict[tuple[str, int], ProcessRunner] = {}
"""The processes beside the workers of this process: by sweep, and by the worker's thread."""
_over: set[str] = set()
"""The sweeps that are over: a group that a worker begins on late gets no process, which nobody would end."""
_lock = threading.Lock()


def compute_group(job: Mapping[str, Any]) -> tuple[list[Row], float]:
    """Compute the rows of a group at a worker; return them, and the seconds that they took.

    Raises:
        CommandError: the worker's gradtool, NumPy or model files are not the client's.
        Over: the sweep is over, and nobody waits for the rows.
    """
    here = f"{os.uname().nodename if hasattr(os, 'uname') else 'the worker'} (process {os.getpid()})"
    content.must_agree(job["versions"], content.versions(), here)
    folder = job["folder"]
    if not os.path.isdir(folder):
        raise CommandError(f"{here} has no folder {folder}", "the workers need the same folder as this machine, shared")
    for model, expected in job["models"].items():
        content.must_agree({model: expected}, {model: _digest_model(folder, model)}, here)
    carrier = _carrier(job)
    points = [(key, Point.read(point)) for key, point in job["points"]]
    begun = time.perf_counter()
    rows = list(carrier.rows(Spec.read(job["spec"]), points))
    return rows, time.perf_counter() - begun


def _carrier(job: Mapping[str, Any]) -> ProcessRunner:
    """The process beside the worker of this thread."""
    mine = job["sweep"], threading.get_ident()
    with _lock:
        if job["sweep"] in _over:
            raise Over
        if mine not in _carriers:
            _carriers[mine] = ProcessRunner(job["spec"]["question"], job["timeout"], job["memory"], job["folder"])
        return _carriers[mine]


def _digest_model(folder: str, model: str) -> str | None:
    """Return the digest of a model's files at a worker; None where there is no such model."""
    where, colon, function = model.rpartition(":")
    file = os.path.join(folder, where if colon and where and function.isidentifier() else model)
    try:
        return content.digest_model(file if os.path.exists(file) else model)
    except (CommandError, OSError):
        return None


def end_processes(sweep: str) -> None:
    """End the processes that stand beside the workers of this process for a sweep, for good."""
    with _lock:
        _over.add(sweep)
        mine = [_carriers.pop(key) for key in list(_carriers) if key[0] == sweep]
    for carrier in mine:
        carrier.end()


class Cluster:
    """Has the workers of a cluster carry out points.

    Args:
        client: of ``dask.distributed``.
        job: what every group has in common.
        spec: the question.
    """

    def __init__(self, client: Any, job: Mapping[str, Any], spec: Spec) -> None:
        self._client = client
        self._job = job
        self._spec = spec
        self._seconds = 0.0
        self._carried = 0
        self._lost: list[Keyed] = []
        self._computed_again: dict[Any, list[Keyed]] = {}

    def rows(self, points: Sequence[Keyed]) -> Generator[list[Row]]:
        """As the protocol's: the first point goes alone, and says how long a point takes."""
        from distributed import as_completed

        if not points:
            return
        waiting = deque(points)
        groups: dict[Any, list[Keyed]] = {}
        coming = as_completed(loop=self._client.loop)
        try:
            self._submit([waiting.popleft()], groups, coming)
            for future in coming:
                group = groups.pop(future)
                yield from self._came(future, group)
                groups |= self._computed_again
                coming.update(self._computed_again)
                self._computed_again = {}
                for keyed in self._lost:
                    self._submit([keyed], groups, coming)
                self._lost.clear()
                while waiting and len(groups) < self._room():
                    size = min(self._size(), len(waiting))
                    self._submit([waiting.popleft() for _ in range(size)], groups, coming)
        finally:
            if groups and self._client.status == "running":
                self._client.cancel([*groups], force=True)

    def _came(self, future: Any, group: list[Keyed]) -> Iterator[list[Row]]:
        """The rows of a group; what was lost with its workers goes once more, each point by itself."""
        from distributed import KilledWorker

        if not future.done():  # its worker took the rows along; Dask has it carried out again
            self._computed_again[future] = group
            return
        if future.status == "error":
            error = future.exception()
            if not isinstance(error, KilledWorker):
                raise error
            if len(group) > 1:
                self._lost += group
                return
            ((key, point),) = group
            yield [row_without_answer(self._spec, point, key, CRASHED, "its workers were lost, one after another")]
            return
        with _scheduler_there():
            rows, seconds = future.result()
        self._seconds += seconds
        self._carried += len(rows)
        yield rows

    def _size(self) -> int:
        """Return the number of points that take about as long as a group is to take."""
        return max(1, int(SECONDS * self._carried / self._seconds)) if self._carried and self._seconds else 1

    def _room(self) -> int:
        """Return the number of groups that may be on their way."""
        with _scheduler_there():
            threads: dict[str, int] = self._client.nthreads()
        return _AHEAD * max(1, sum(threads.values()))

    def _submit(self, group: list[Keyed], groups: dict[Any, list[Keyed]], coming: Any) -> None:
        job = {**self._job, "points": [[key, point.job()] for key, point in group]}
        with _scheduler_there():
            future = self._client.submit(compute_group, job, pure=False)
        groups[future] = group
        coming.add(future)


@contextmanager
def _scheduler_there() -> Iterator[None]:
    """Turn the errors of a lost scheduler into one: Dask has an error for each state in which a lost one may be
    noticed.

    Raises:
        CommandError: the scheduler is not there any more.
    """
    from distributed import CancelledError
    from distributed.client import ClosedClientError

    try:
        yield
    except (OSError, CancelledError, ClosedClientError) as error:
        raise CommandError(
            "the scheduler was lost", "--results FILE with --resume goes on with what was done"
        ) from error


@contextmanager
def cluster(means: Means, spec: Spec, axes: Axes, jobs: int) -> Iterator[Cluster]:
    """A cluster's workers; those that are begun here are ended afterwards.

    Raises:
        CommandError: Dask is not installed, nobody answers at the address, or client and workers differ.
    """
    sweep = f"{os.getpid()}-{time.monotonic_ns()}"
    job: dict[str, Any] = {
        "sweep": sweep,
        "versions": content.versions(),
        "folder": os.getcwd(),
        "models": axes.contents(),
        "spec": spec.data(),
        "timeout": means.timeout,
        "memory": means.memory,
    }
    stack = ExitStack()
    try:
        client = stack.enter_context(_client(means.scheduler, jobs))
        if means.scheduler is None:
            stack.callback(end_processes, sweep)
        else:
            stack.callback(_end_remote_processes, client, sweep)
            for worker, versions in _versions(client).items():
                content.must_agree(job["versions"], versions, worker)
        yield Cluster(client, job, spec)
    finally:
        with ignore_interrupts():
            stack.close()


def _end_remote_processes(client: Any, sweep: str) -> None:
    """End the processes beside the workers; those of a worker that cannot be reached end when it does."""
    if client.status == "running":
        with suppress(OSError, TimeoutError):
            client.run(end_processes, sweep, on_error="ignore")


def _versions(client: Any) -> dict[str, dict[str, str]]:
    """Worker -> its versions.

    Raises:
        CommandError: gradtool is not installed at a worker.
    """
    try:
        return dict(client.run(content.versions))
    except ImportError as error:
        raise CommandError(f"a worker cannot import gradtool: {error}", "pip install gradtool there") from None


@contextmanager
def _client(scheduler: str | None, jobs: int) -> Iterator[Any]:
    try:
        import distributed
    except ImportError:
        raise PackageNeeded(
            "points side by side need Dask, which is not installed", "pip install 'gradtool[sweep]', or --jobs 1"
        ) from None
    if scheduler is None:
        from .local import client

        with client(jobs) as local:
            yield local
        return
    try:
        remote = distributed.Client(scheduler, timeout=WAIT, set_as_default=False)
    except (OSError, ValueError, TimeoutError) as error:
        raise CommandError(f"--scheduler {scheduler}: no scheduler answers there ({error})") from None
    with remote:
        if not remote.nthreads():
            raise CommandError(f"--scheduler {scheduler}: the scheduler has no workers", f"dask worker {scheduler}")
        yield remote
