"""Answers do not depend on chance: a script is asked again and again, with other memory and another order of hashes."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

SCRIPTS = Path(__file__).parent / "scripts"


def names() -> list[str]:
    """Return the scripts with dropout, Paddle's first."""
    return sorted(path.stem for path in SCRIPTS.glob("*.py"))


def answers(name: str, runs: Iterable[int], question: str = "check") -> Counter[str]:
    """Return what a question about a script answers, each in a process of its own, and how often.

    Args:
        runs: numbers, of which each decides how strings are hashed and what freshly given memory holds.
    """
    told: Counter[str] = Counter()
    for run in runs:
        chance = {"PYTHONHASHSEED": str(run), "MALLOC_PERTURB_": str(run % 255 + 1)}
        words = [sys.executable, "-m", "gradtool", *question.split(), f"{name}.py"]
        words += ["--no-cache"] if question == "check" else []
        done = subprocess.run(words, cwd=SCRIPTS, env={**os.environ, **chance}, capture_output=True, text=True)
        told[f"exit {done.returncode}\n{done.stdout}{done.stderr}"] += 1
    return told
