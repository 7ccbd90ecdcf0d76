"""Models checked side by side, each in a process of its own (:mod:`.worker`).

One that ends its process, or that comes to no end, is a finding about that model; the others are checked all the same.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

from ..script.processes import Process, ProcessEnded, end_all
from . import process as endings
from .check_result import CheckedModel, Job

WORKER = "gradtool.engine.gate.worker"
"""What such a process runs."""

Done = Callable[[int, CheckedModel], None]


def check(jobs: Sequence[Job], side_by_side: int, done: Done = lambda number, result: None) -> list[CheckedModel]:
    """Check models.

    Args:
        side_by_side: how many at a time.
        done: is told of each, in the order in which they come to their end, from one thread at a time.

    Returns:
        What comes of each, in the order of *jobs*.

    Raises:
        RuntimeError: gradtool itself failed.
    """
    results: dict[int, CheckedModel] = {}
    failures: dict[int, BaseException] = {}
    left = iter(range(len(jobs)))
    lock = threading.Lock()
    workers = [Process(WORKER) for _ in range(max(1, min(side_by_side, len(jobs))))]

    def work(worker: Process) -> None:
        while not failures:
            with lock:
                number = next(left, None)
            if number is None:
                return
            try:
                result = _check(worker, jobs[number])
            except BaseException as error:
                failures[number] = error
                return
            with lock:
                results[number] = result
                done(number, result)

    with end_all(workers):
        threads = [threading.Thread(target=work, args=(worker,), daemon=True) for worker in workers]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    if failures:
        raise failures[min(failures)]
    return [results[number] for number in range(len(jobs))]


def _check(process: Process, job: Job) -> CheckedModel:
    """Return the result of a job."""
    try:
        process.ask(job.data())
        answer = process.answer(job.timeout)
    except ProcessEnded as end:
        if end.late:
            assert job.timeout is not None
            return CheckedModel(findings=[endings.report_timeout(job.subject, job.timeout)])
        return CheckedModel(findings=[endings.report_crash(job.subject, end.code, "")])
    return _read(job, answer)


def _read(job: Job, answer: dict[str, Any]) -> CheckedModel:
    if answer["status"] == "failed":
        raise RuntimeError(f"while {job.subject.name} was checked:\n{answer['error']}")
    if answer["status"] == "ended":
        said = answer["said"]
        return CheckedModel(findings=[endings.report_crash(job.subject, answer["code"], said)], said=said)
    return CheckedModel.read({**answer["result"], "said": answer["said"]})
