"""The zoo: models in the styles of public ones, held to what Paddle computes of them.

Run from the top of the repository::

    python -m tests.zoo --record [NAME]… --paddle PYTHON   # losses and gradients of Paddle; of what has no record yet
    python -m tests.zoo --time [NAME]… --paddle PYTHON     # each command beside what Paddle needs to run the model once

PYTHON is an interpreter that has Paddle 3.1.1. Nothing is asserted about times: a person reads them.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.zoo.measured import NAMES, RECORDED, file_of

ROOT = Path(__file__).resolve().parents[2]
GRADTOOL = str(Path(sys.executable).with_name("gradtool"))
FOUND = 1
"""The exit code of a command that found something."""
COMMANDS = ("backward", "why", "nan", "stats --memory", "graph")


def record(names: list[str], python: str) -> None:
    """Record models with Paddle."""
    RECORDED.mkdir(exist_ok=True)
    chosen = names or [n for n in NAMES if not (RECORDED / f"{n}.json").exists()]
    if chosen:
        subprocess.run([python, "-m", "tests.zoo.recording", *chosen], cwd=ROOT, check=True)


def compare_times(names: list[str], python: str) -> None:
    """Print what each command takes beside what Paddle takes to import and run the model once."""
    print(f"{'':<24}{'Paddle':>8}", *(f"{c:>14}" for c in COMMANDS), "  slowest/Paddle")
    for name in names or NAMES:
        whole = _seconds([python, "-m", "tests.zoo.recording", "--once", name])
        taken = [_seconds(_command(c, name)) for c in COMMANDS]
        share = max(taken) / whole
        print(f"{name:<24}{whole:>8.2f}", *(f"{t:>14.2f}" for t in taken), f"{share:>8.2f}", flush=True)


def _command(command: str, name: str) -> list[str]:
    words = ["-o", os.path.join(tempfile.gettempdir(), f"zoo-{os.getpid()}.svg")] if command == "graph" else []
    return [GRADTOOL, *command.split(), str(file_of(name)), *words]


def _seconds(words: list[str]) -> float:
    """Seconds of the processor, the fewer of two runs: neither other work of the machine nor a cold disk counts."""
    runs = []
    for _ in range(2):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run(words, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        if done.returncode not in (0, FOUND):
            sys.exit(f"{' '.join(words)} ended with {done.returncode}:\n{done.stderr}")
        runs.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return min(runs)


def main() -> None:
    """Do what the command line asks for."""
    parser = argparse.ArgumentParser(prog="python -m tests.zoo", description=(__doc__ or "").partition("\n")[0])
    action = parser.add_mutually_exclusive_group(required=True)
    action.add_argument("--record", nargs="*", metavar="NAME", help="record losses and gradients with Paddle")
    action.add_argument("--time", nargs="*", metavar="NAME", help="compare what commands take with what Paddle takes")
    parser.add_argument("--paddle", required=True, metavar="PYTHON", help="an interpreter that has Paddle 3.1.1")
    asked = parser.parse_args()
    names = asked.record if asked.record is not None else asked.time
    unknown = [n for n in names if n not in NAMES]
    if unknown:
        parser.error(f"no model {', '.join(unknown)}; there are {', '.join(NAMES)}")
    (record if asked.record is not None else compare_times)(names, asked.paddle)


if __name__ == "__main__":
    main()
