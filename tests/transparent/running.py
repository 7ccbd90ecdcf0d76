"""Run a staged script plainly, and under a question, each in a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gradtool.engine.core.deviations import OTHERWISE

from . import staging
from .staging import ROOT, Script

QUESTIONS: Mapping[str, Sequence[str]] = {
    "bare": (),
    "check": ("check", "--no-cache"),
    **{name: (name,) for name in ("why", "nan", "stats", "flow", "gradcheck")},
    "saved": ("stats", "--memory"),
    "profile": ("stats", "--time"),
    "debug": ("debug", "--batch"),
}
"""Words of the command line by question; the model follows the first."""

AGAIN = "runs again"
"""What a command says on standard error before it runs a file once more."""

PATIENCE = 120.0
"""Seconds that a run may take."""

PLAIN = "plain"

UNCOMPILED = "plain, uncompiled"
"""A plain run in which PyTorch compiles nothing: what a run is compared with that says so of itself."""

_ANSWERED = (0, 1)
_STATED = (*_ANSWERED, 2, 3, 4)


@dataclass
class Outcome:
    """What came of a run.

    Attributes:
        records: what the probe wrote, one for each time that the script ran.
        code: the exit code of the process; None of a run that took too long.
        seconds: CPU seconds of the run, without imports.
        memory: the most that the process held, in KiB.
        files: what the script's folder held afterwards.
    """

    records: list[dict[str, Any]] = field(default_factory=list)
    code: int | None = None
    seconds: float = 0.0
    memory: int = 0
    stdout: str = ""
    stderr: str = ""
    files: dict[str, str] = field(default_factory=dict)


class Runner:
    """Runs staged scripts; questions are asked in forks of a process that has imported everything already.

    Args:
        python: interpreter with torch, for its scripts.
    """

    def __init__(self, python: str = sys.executable) -> None:
        self._pythons = {"plain-torch": python, "torch": python, "paddle": sys.executable}
        self._servers: dict[str, subprocess.Popen[str]] = {}
        self._temporary = tempfile.TemporaryDirectory(prefix="transparent-")
        self._folder = Path(self._temporary.name).resolve()

    def __enter__(self) -> Runner:
        return self

    def __exit__(self, *error: object) -> None:
        for server in self._servers.values():
            for pipe in (server.stdin, server.stdout):
                assert pipe is not None
                pipe.close()
            server.wait()
        self._temporary.cleanup()

    def run(self, script: Script, question: str) -> Outcome:
        """Run a script; *question* is a key of :data:`QUESTIONS`, :data:`PLAIN` or :data:`UNCOMPILED`."""
        copy = staging.stage(script, self._folder / "stage")
        out = self._folder / ".cache" / "out"  # what lies in a cache is not the overlay's: there the probe writes
        out.mkdir(parents=True, exist_ok=True)
        for path in out.iterdir():
            path.unlink()
        variables = _variables(script, out)
        outcome = Outcome()
        self._ask(script, question, copy, variables, outcome)
        outcome.records = [json.loads(path.read_text()) for path in sorted(out.iterdir(), key=lambda p: int(p.stem))]
        outcome.files = staging.digest(copy.parent)
        return outcome

    def _ask(self, script: Script, question: str, copy: Path, variables: Mapping[str, str], outcome: Outcome) -> None:
        plain = question in (PLAIN, UNCOMPILED)
        if plain:
            words = ["--with-entry", copy.name] if script.has_entry else [copy.name]
        else:
            command = list(QUESTIONS[question])
            words = [*command[:1], copy.name, *command[1:], "--steps", "all"]
        paths = [str(self._folder / name) for name in ("stdout", "stderr")]
        job = {"words": words, "plain": plain, "folder": str(copy.parent), "variables": dict(variables)}
        job |= {"stdout": paths[0], "stderr": paths[1], "seconds": PATIENCE, "compiles": question != UNCOMPILED}
        server = self._server("plain-torch" if plain and script.kind == "torch" else script.kind)
        assert server.stdin is not None
        assert server.stdout is not None
        server.stdin.write(json.dumps(job) + "\n")
        server.stdin.flush()
        answer = server.stdout.readline()
        if not answer:
            raise RuntimeError(f"the process that runs {script.kind} scripts has ended")
        told = json.loads(answer)
        outcome.code, outcome.seconds, outcome.memory = told["code"], told["seconds"], told["memory"]
        outcome.stdout, outcome.stderr = (Path(path).read_text("utf-8", "replace") for path in paths)

    def _server(self, kind: str) -> subprocess.Popen[str]:
        if kind not in self._servers:
            self._servers[kind] = subprocess.Popen(
                [self._pythons[kind], "-m", "tests.transparent.server", kind],
                cwd=ROOT,
                env=os.environ | _SETTINGS,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
        return self._servers[kind]


_SETTINGS = {
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "PYTHONHASHSEED": "0",
    "COLUMNS": "120",
}


def _variables(script: Script, out: Path) -> dict[str, str]:
    return _SETTINGS | {"TRANSPARENT_OUT": str(out), "TRANSPARENT_KIND": script.kind}


def peer_of(asked: Outcome) -> str:
    """Return the plain run that a run under a question is compared with."""
    return UNCOMPILED if OTHERWISE["uncompiled"] in asked.stderr else PLAIN


def compare(plain: Outcome, asked: Outcome) -> list[str]:
    """Return what differs between a plain run and one under a question, a line each."""
    if asked.code is None:
        return ["still ran after its time"] if plain.code is not None else []
    if plain.code is None:
        return ["ended, and the plain run did not"]
    differences = []
    if asked.code not in _STATED:
        last = next((line for line in reversed(asked.stderr.splitlines()) if line.strip()), "")
        differences.append(f"exit code {asked.code}: {last[:150]}")
    if plain.records and not asked.records:
        said = next((line for line in (asked.stderr + asked.stdout).splitlines() if line.strip()), "")
        differences.append(f"did not run to its end (exit code {asked.code}): {said[:150]}")
    if len(asked.records) > 1 and AGAIN not in asked.stderr:
        differences.append(f"ran {len(asked.records)} times without a word")
    if plain.records and asked.records:  # later runs are with other seeds, and counted
        differences += compare_records(plain.records[0], asked.records[0])
    raised = plain.records[0]["raised"] if plain.records else ""
    if raised and not asked.code and raised not in asked.stderr + asked.stdout:
        differences.append(f"does not mention that the script raised {raised}")
    if asked.files.keys() - plain.files.keys():
        differences.append(f"wrote {', '.join(sorted(asked.files.keys() - plain.files.keys()))}")
    return differences


def compare_records(plain: Mapping[str, Any], asked: Mapping[str, Any]) -> list[str]:
    """Return what differs between two records of the probe, a line each."""
    differences = []
    if plain["reached"] != asked["reached"]:
        differences.append("came to its end" if asked["reached"] else "did not come to its end")
    if plain["name"] != asked["name"]:
        differences.append(f"__name__ is {asked['name']}, not {plain['name']}")
    if plain["streams"] != asked["streams"]:
        differences.append(f"its streams are {asked['streams']}, not {plain['streams']}")
    if plain["printed"] != asked["printed"]:
        differences.append(_first_line(plain["printed"], asked["printed"]))
    if plain["steps"] != asked["steps"]:
        differences.append(f"steps of optimizers: {asked['steps'][:20]}, not {plain['steps'][:20]}")
    before, now = plain["values"], asked["values"]
    names = sorted(n for n in before.keys() | now.keys() if before.get(n) != now.get(n))
    if names:
        first = names[0]
        more = f" and {len(names) - 1} more values" if len(names) > 1 else ""
        differences.append(f"{first} is {now.get(first)}, not {before.get(first)}{more}")
    return differences


def _first_line(plain: str, asked: str) -> str:
    one, other = plain.splitlines(), asked.splitlines()
    at = next((i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
    left = one[at] if at < len(one) else "nothing"
    right = other[at] if at < len(other) else "nothing"
    return f"printed {right[:110]!r}, not {left[:110]!r}, in line {at + 1}"
