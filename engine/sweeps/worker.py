"""A process that carries out points for :mod:`.places.processes`: a line with points comes, a line goes for each row.

Nothing is forked: a point costs what it costs in the command's own process. After a point that took all memory there
is, or that ended the process, whoever asked begins another one.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any

from ..files import temporary_files
from ..gate.preloading import SMALL
from ..script import streams
from ..script.imports import guard_imports
from ..script.processes import READY
from .point import Point
from .point_rows import compute_row
from .spec import Spec


def main(arguments: list[str]) -> None:
    """Carry out points until there are no more.

    Args:
        arguments: where points have an end, the question, so that what is loaded once is no point's; and the bytes that
            may be taken beyond that, if there is an end of these.
    """
    streams.hear_terminals()
    jobs, results = os.dup(0), os.dup(1)
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nowhere, stream)  # what a model prints, and reads, is nobody's
    with guard_imports(), open(jobs, "rb") as lines, open(results, "wb", buffering=0) as answers:
        if arguments:
            _load(arguments[0])
        for memory in arguments[1:]:
            _limit(int(memory))
        answers.write(READY)
        for line in lines:
            job = json.loads(line)
            spec = Spec.read(job["spec"])
            for key, point in job["points"]:
                answers.write(json.dumps(_row(spec, Point.read(point), key), allow_nan=False).encode() + b"\n")


def _row(spec: Spec, point: Point, key: str) -> dict[str, Any]:
    try:
        return {"row": compute_row(spec, point, key)}
    except Exception:
        import traceback

        return {"failed": traceback.format_exc()}


def _load(question: str) -> None:
    """Ask the question of two small models of our own, so that no point pays for what is loaded once."""
    with temporary_files.folder() as folder:
        for name, text in SMALL.items():
            file = os.path.join(folder, f"{name}.py")
            with open(file, "w", encoding="utf-8") as stream:
                stream.write(text)
            _row(Spec(question=question), Point(file, 0), "")


def _limit(memory: int) -> None:
    """Let the process take so many bytes more than it has; the command has seen that the system can do that."""
    import resource

    with open("/proc/self/statm", encoding="ascii") as stream:
        pages = int(stream.read().split()[0])
    most = pages * resource.getpagesize() + memory
    resource.setrlimit(resource.RLIMIT_AS, (most, resource.getrlimit(resource.RLIMIT_AS)[1]))


if __name__ == "__main__":
    main(sys.argv[1:])
