"""Whole runs of the command, as installed.

python -m tests.bench commands
python -m tests.bench commands --sample samples/lenet_digits.py --runs 30
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path

from tests.bench.measuring import ROOT, timed

SAMPLE = "samples/word_embedding.py"
LIMITS = {"--help": 0.1, "backward SAMPLE": 0.4}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.bench commands", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--runs", type=int, default=15, help="runs of each command")
    parser.add_argument("--sample", default=SAMPLE, help="the model file for 'gradtool backward'")
    options = parser.parse_args()
    commands(options.runs, options.sample)


def commands(runs: int, sample: str) -> None:
    """Medians of whole runs of the command, as installed: its byte code is there and is read from disk."""
    beside = shutil.which("gradtool", path=str(Path(sys.executable).parent))
    program = [beside] if beside else [sys.executable, "-P", "-m", "gradtool"]
    lines = {"--help": ["--help"], "backward SAMPLE": ["backward", sample]}
    print(f"{'gradtool …':<20}{'median s':>10}{'fastest':>10}{'target':>10}")
    with tempfile.TemporaryDirectory() as cache:
        environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
        environment["PYTHONPYCACHEPREFIX"] = cache
        for label, arguments in lines.items():
            run = partial(
                subprocess.run, [*program, *arguments], cwd=ROOT, env=environment, check=True, capture_output=True
            )
            run()
            seconds = [timed(run)[1] for _ in range(runs)]
            print(f"{label:<20}{statistics.median(seconds):>10.3f}{min(seconds):>10.3f}{LIMITS[label]:>10.3f}")


if __name__ == "__main__":
    main()
