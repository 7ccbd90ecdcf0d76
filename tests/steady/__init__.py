"""Answers do not depend on chance: a script is asked again and again, with other memory and another order of hashes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SCRIPTS = Path(__file__).parent / "scripts"


def names() -> list[str]:
    """Return the scripts with dropout, Paddle's first."""
    return sorted(path.stem for path in SCRIPTS.glob("*.py"))


A_SEED = 20
"""Runs that hash strings alike: they are forks of one process."""


def answers(name: str, runs: range, question: str = "check") -> Counter[str]:
    """Return what a question about a script answers, each in a process of its own, and how often.

    Args:
        runs: numbers, of which each decides what freshly given memory holds, and each twentieth how strings are hashed.
    """
    told: Counter[str] = Counter()
    words = [*question.split(), f"{name}.py", *(["--no-cache"] if question == "check" else [])]
    first = runs.start
    while first < runs.stop:
        seed = first // A_SEED
        count = min((seed + 1) * A_SEED, runs.stop) - first
        line = [sys.executable, "-m", "tests.steady.forks", name, str(first), str(count), *words]
        path = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
        environment = {**os.environ, "PYTHONHASHSEED": str(seed), "PYTHONPATH": path}
        done = subprocess.run(line, cwd=SCRIPTS, env=environment, capture_output=True, text=True, check=True)
        told.update(map(json.loads, done.stdout.splitlines()))
        first += count
    return told
