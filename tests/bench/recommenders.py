"""Recommender models with tables of millions of rows, in dynamic mode, beside Paddle.

    python -m tests.bench recommenders --peer paddle=/path/to/python

Seconds of CPU time: to make the model, of the first step (with what it makes: compiled text, the optimizer's state,
pages of memory), and of the best of the others; and the largest resident set of the process. Every engine is a process
of its own, on one thread; they take turns, and the least of the rounds is shown. The target: at most 0.8 of Paddle.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import subprocess
import sys
import time
from typing import Any

from tests.bench.measuring import ROOT, interpreters, largest_resident
from tests.bench.recommender_models import MODELS

COLUMNS = ("make", "first", "step", "MB")
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.bench recommenders", description=__doc__)
    parser.add_argument("--peer", action="append", metavar="NAME=PYTHON", help="paddle=…")
    parser.add_argument("--models", default=",".join(MODELS))
    parser.add_argument("--rounds", type=int, default=2, help="how often every engine runs")
    parser.add_argument("--steps", type=int, default=5)
    parser.add_argument("--measure", nargs=2, metavar=("ENGINE", "MODEL"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        print(json.dumps(measured(*options.measure, options.steps)))
        return
    engines = {name: python for name, python in interpreters(parser, options.peer).items() if name != "torch"}
    print(f"{'':<8}{'':<16}" + "".join(f"{c:>9}" for c in COLUMNS))
    for model in options.models.split(","):
        rounds = [{e: run(e, p, model, options.steps) for e, p in engines.items()} for _ in range(options.rounds)]
        least = {e: {c: min(r[e][c] for r in rounds) for c in COLUMNS} for e in engines}
        for engine, row in least.items():
            version = rounds[0][engine]["version"].partition("+")[0]
            print(f"{model:<8}{engine + ' ' + version:<16}" + "".join(f"{row[c]:>9.3g}" for c in COLUMNS))
        if "paddle" in least:
            ratios = [least["gradtool"][c] / least["paddle"][c] for c in COLUMNS]
            print(f"{model:<8}{'ratio':<16}" + "".join(f"{r:>9.2f}" for r in ratios))


def run(engine: str, python: str, model: str, steps: int) -> dict[str, Any]:
    environment = {**os.environ, **dict.fromkeys(THREADS, "1"), "GLOG_minloglevel": "3"}
    command = [python, "-W", "ignore", "-m", "tests.bench.recommenders", "--steps", str(steps)]
    done = subprocess.run(
        [*command, "--measure", engine, model], cwd=ROOT, env=environment, check=True, stdout=subprocess.PIPE, text=True
    )
    return dict(json.loads(done.stdout.splitlines()[-1]))


def measured(engine: str, model: str, steps: int) -> dict[str, Any]:
    """What this process takes."""
    paddle = importlib.import_module("gradtool.paddle" if engine == "gradtool" else engine)
    paddle.seed(1)
    clock = time.process_time
    start = clock()
    step = MODELS[model](paddle)
    times = [clock() - start]
    for _ in range(steps + 1):
        start = clock()
        step()
        times.append(clock() - start)
    row = {"make": times[0], "first": times[1], "step": min(times[2:]), "MB": largest_resident()}
    return {"version": paddle.__version__, **row}


if __name__ == "__main__":
    sys.exit(main())
