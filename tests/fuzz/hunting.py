"""Running cases: one after the other, each with its own random numbers, under a limit of time and one of memory."""

from __future__ import annotations

import contextlib
import os
import resource
import signal
import sys
import tempfile
import traceback
import warnings
from collections.abc import Callable, Iterator
from random import Random
from typing import Any, NamedTuple

from gradtool.engine.core import state
from gradtool.engine.executor.scope import Scope, scope_guard
from gradtool.engine.ir import default

from . import output, reading
from .commands import gradtool

SECONDS = 10.0
"""How long a case may take."""
MEMORY = 2**30
"""Bytes that the process may need beyond what it has when the cases begin."""


class Hang(BaseException):
    """A case takes too long."""


class Failure(NamedTuple):
    """A case that did what none may do, and how to run it again."""

    kind: str
    number: int
    seed: int
    what: str

    def __str__(self) -> str:
        return f"python -m tests.fuzz --case {self.kind!r} {self.number} {self.seed}\n    {self.what}"


Act = Callable[[Random], None]


def _reading(kind: str) -> Act:
    def act(draw: Random) -> None:
        case = reading.READERS[kind](draw)
        with contextlib.suppress(*reading.REFUSED):
            case.read(case.data)

    return act


def _command(draw: Random) -> None:
    """A changed file as an argument of the command."""
    kind, name, *commands = draw.choice(_COMMANDS)
    case = reading.READERS[kind](draw)
    with open(name, "wb") as file:
        file.write(case.data)
    with open("net.json", "w", encoding="utf-8") as file:
        file.write(reading.net())
    output._terminal(gradtool(*draw.choice(commands).split()).err)


_COMMANDS = (
    ("program text", "m.txt", "graph m.txt --pairs", "backward m.txt", "graph m.txt -o g.svg"),
    (
        "program JSON",
        "m.json",
        "graph --text m.json",
        "backward m.json",
        "graph m.json --format text",
        "graph --where loss m.json",
    ),
    ("container", "m.pdmodel", "graph --text m.pdmodel", "why m.pdmodel"),
    ("feed", "f.npz", "backward net.json --run --feed f.npz", "gradients net.json --feed f.npz"),
    ("session", "s.jsonl", "debug --replay s.jsonl --check", "debug --replay s.jsonl --batch"),
)

KINDS: dict[str, tuple[Act, int]] = {
    **{kind: (_reading(kind), 12) for kind in reading.READERS},
    "command": (_command, 4),
    **{f"names: {form}": (act, 1) for form, act in output.OUTPUTS.items()},
}
"""What is run, and how often in proportion to the others."""


def shares(count: int) -> dict[str, int]:
    """How many cases of each kind *count* cases are; at least one of each."""
    whole = sum(weight for _, weight in KINDS.values())
    return {kind: max(1, count * weight // whole) for kind, (_, weight) in KINDS.items()}


def run(kind: str, number: int, seed: int) -> Failure | None:
    """Run one case."""
    act, _ = KINDS[kind]
    draw = Random(f"{seed} {kind} {number}")

    def late(signal_number: int, frame: Any) -> None:
        raise Hang(f"it takes longer than {SECONDS:g} s")

    before = signal.signal(signal.SIGPROF, late)
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        with default.fresh_programs(), scope_guard(Scope()), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            state.enable_static()
            state.random.reset(0)
            act(draw)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        frame = traceback.extract_tb(error.__traceback__)[-1]
        said = str(error).split("\n")[0][:600] if not isinstance(error, AssertionError) else str(error)[:1500]
        return Failure(
            kind, number, seed, f"{type(error).__name__}: {said!a} ({os.path.basename(frame.filename)}:{frame.lineno})"
        )
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
        for entry in os.scandir():
            os.unlink(entry)
    return None


@contextlib.contextmanager
def bounded() -> Iterator[None]:
    """An empty current folder, and a limit of memory."""
    before = resource.getrlimit(resource.RLIMIT_AS)
    home = os.getcwd()
    paths = list(sys.path)
    with tempfile.TemporaryDirectory(dir="/dev/shm" if os.path.isdir("/dev/shm") else None) as folder:
        os.chdir(folder)
        with open("/proc/self/statm") as file:
            now = int(file.read().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (now + MEMORY, before[1]))
        try:
            yield
        finally:
            resource.setrlimit(resource.RLIMIT_AS, before)
            os.chdir(home)
            sys.path[:] = paths
