"""The other end of :mod:`.pool`: a process that checks models, each in a process of its own.

A job comes as a line of JSON on standard input, and what comes of it goes as one to standard output. The engine is
loaded once; every model starts from there, in a fork, so that none sees what another has left behind, and one that
ends its process ends no other. Where there are no forks, the process ends with its one model.
"""

from __future__ import annotations

import json
import os
import select
import sys
import tempfile
import warnings
from typing import Any, BinaryIO

from ..kernels import choice
from ..script import effects, streams
from ..script.imports import guard_imports
from ..script.processes import READY
from . import checking, preloading
from .check_result import Job
from .model_messages import LONGEST, tail


def main() -> None:
    """Carry out jobs until there are no more."""
    streams.hear_terminals()
    jobs, results = os.dup(0), os.dup(1)
    nowhere = os.open(os.devnull, os.O_RDWR)
    os.dup2(nowhere, 0)
    os.dup2(2, 1)  # whatever prints, prints beside the results
    forks = hasattr(os, "fork") and choice.DEFAULT == choice.REFERENCE  # others may have threads of their own
    with guard_imports(), open(jobs, "rb", buffering=0) as lines, open(results, "wb", buffering=0) as answers:
        preloading.load()
        answers.write(READY)
        while line := _line(lines):
            answer = _run_in_fork(line, jobs) if forks else _here(line)
            if answer is None:
                return  # nobody waits for it any more
            answers.write(json.dumps(answer).encode() + b"\n")
            if not forks:
                return


def _line(stream: BinaryIO) -> bytes:
    line = b""
    while not line.endswith(b"\n"):
        piece = stream.readline()
        if not piece:
            return b""
        line += piece
    return line


def _run_in_fork(line: bytes, jobs: int) -> dict[str, Any] | None:
    """Return the result of a job that a process of its own carries out; None if whoever asked has gone."""
    reading, writing = os.pipe()
    with tempfile.TemporaryFile() as printed:
        with warnings.catch_warnings():
            # NumPy's threads are at rest: no model has run here.
            warnings.simplefilter("ignore", DeprecationWarning)
            child = os.fork()
        if not child:
            os.close(reading)
            _be_the_child(line, writing, printed.fileno())
        os.close(writing)
        answer = b""
        with open(reading, "rb", buffering=0) as pipe:
            while True:
                ready, _, _ = select.select([reading, jobs], [], [])
                if jobs in ready:  # no job comes while one is carried out: it is the end
                    os.kill(child, 9)
                    os.waitpid(child, 0)
                    return None
                piece = pipe.read(1 << 16)
                if not piece:
                    break
                answer += piece
        _, status = os.waitpid(child, 0)
        said = _output_tail(printed)
        if answer.endswith(b"\n"):
            return {**json.loads(answer), "said": said}
        return {"status": "ended", "code": os.waitstatus_to_exitcode(status), "said": said}


def _be_the_child(line: bytes, writing: int, printed: int) -> None:
    """Carry out a job and end, whatever happens."""
    code = 1
    try:
        os.dup2(printed, 1)
        os.dup2(printed, 2)
        answer = json.dumps(_carry_out(line)).encode() + b"\n"
        sys.stdout.flush()
        sys.stderr.flush()
        with open(writing, "wb") as pipe:
            pipe.write(answer)
        code = 0
    finally:
        os._exit(code)


def _here(line: bytes) -> dict[str, Any]:
    """Return the result of a job that this process carries out itself."""
    with tempfile.TemporaryFile() as printed:
        os.dup2(printed.fileno(), 1)
        os.dup2(printed.fileno(), 2)
        answer = _carry_out(line)
        sys.stdout.flush()
        sys.stderr.flush()
        return {**answer, "said": _output_tail(printed)}


def _carry_out(line: bytes) -> dict[str, Any]:
    import traceback

    try:
        job = json.loads(line)
        with effects.command_scope(_say):
            return {"status": "checked", "result": checking.check_and_record(Job.read(job)).data()}
    except Exception:
        return {"status": "failed", "error": traceback.format_exc()}


def _say(text: str) -> None:
    print(text, file=sys.stderr)


def _output_tail(printed: BinaryIO | Any) -> str:
    """Return what was printed; of much, the end."""
    before = max(printed.seek(0, os.SEEK_END) - LONGEST, 0)
    printed.seek(before)
    return tail(printed.read().decode("utf-8", "replace"), before)


if __name__ == "__main__":
    main()
