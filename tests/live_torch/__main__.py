"""Run the tests of this folder where torch is installed: ``python -m tests.live_torch [NAME …] [OPTION …]``.

They are part of the suite there (``test_processes.py``), each file in a process of its own: in the suite's own process
the name ``torch`` finds a folder of tests.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

HERE = Path(__file__).parent
REPOSITORY = HERE.parents[1]
FILES = sorted({path.stem for path in HERE.glob("test_*.py")} - {"test_processes"})

_PYTEST = (
    "-m",
    "pytest",
    "-q",
    "-n",
    "0",
    "--import-mode=importlib",
    "--noconftest",
    "-p",
    "no:cacheprovider",
    "-p",
    "no:gradtool",
)


def run(names: Sequence[str], options: Sequence[str] = ()) -> subprocess.CompletedProcess[str]:
    """Run the tests of these files, and return what came of it; errors stand in the output."""
    paths = [str(HERE / f"{name}.py") for name in names]
    kept = [p for p in os.environ.get("PYTHONPATH", "").split(os.pathsep) if p]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(REPOSITORY), *kept]), "OMP_NUM_THREADS": "1"}
    environment = {n: v for n, v in environment.items() if not n.startswith("PYTEST_")}
    command = [sys.executable, *_PYTEST, *options, *paths]
    return subprocess.run(
        command,
        cwd=REPOSITORY,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )


if __name__ == "__main__":
    words = sys.argv[1:]
    done = run([w for w in words if w in FILES] or FILES, [w for w in words if w not in FILES])
    print(done.stdout, end="")
    raise SystemExit(done.returncode)
