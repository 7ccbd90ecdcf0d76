"""Dynamic mode: microseconds per operator on 4×4 tensors, recorded and run backward, beside other packages.

    python -m tests.bench eager
    python -m tests.bench eager --peer torch=/path/to/python --peer paddle=/path/to/python

A peer is named with the interpreter that has it; GRADTOOL_BENCH_PEERS may hold the same, with commas between them.
Every engine runs in a process of its own, on one thread, one after the other and then all over again; shown is the
better of the rounds. The columns are ``record`` (the forward calls, with their nodes) and ``both`` (with backward and
the freeing of the graph), per forward operator.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
from pathlib import Path
from typing import Any

from tests.bench.measuring import ROOT, interpreters

THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.bench eager", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--peer", action="append", metavar="NAME=PYTHON", help="torch=… or paddle=…; repeatable")
    parser.add_argument("--rounds", type=int, default=3, help="how often every engine runs")
    parser.add_argument("--runs", type=int, default=40, help="passes that are timed in each; the median counts")
    options = parser.parse_args()
    engines = interpreters(parser, options.peer).items()
    rounds = [{name: run(name, python, options.runs) for name, python in engines} for _ in range(options.rounds)]
    table(rounds)


def run(engine: str, python: str, runs: int) -> dict[str, Any]:
    """What one process finds: the version and, for each chain, the two times."""
    environment = {**os.environ, **dict.fromkeys(THREADS, "1"), "GLOG_minloglevel": "3"}
    command = [python, "-W", "ignore", str(Path(__file__).with_name("eager_process.py")), engine, str(runs)]
    done = subprocess.run(command, cwd=ROOT, env=environment, check=True, stdout=subprocess.PIPE, text=True)
    return dict(json.loads(done.stdout.splitlines()[-1]))


def table(rounds: list[dict[str, dict[str, Any]]]) -> None:
    engines = list(rounds[0])
    print(f"{'':<14}" + "".join(f"{e + ' ' + rounds[0][e]['version'].partition('+')[0]:>22}" for e in engines))
    print(f"{'µs per op':<14}" + f"{'record':>13}{'both':>9}" * len(engines))
    above: list[str] = []
    for chain in rounds[0]["gradtool"]["found"]:
        best = {e: [min(r[e]["found"][chain][i] for r in rounds) for i in (0, 1)] for e in engines}
        print(f"{chain:<14}" + "".join(f"{best[e][0]:>13.2f}{best[e][1]:>9.2f}" for e in engines))
        over = [e for e in engines[1:] if any(a > b for a, b in zip(best["gradtool"], best[e], strict=True))]
        above += [f"{chain} ({', '.join(over)})"] if over else []
    if len(engines) > 1:
        print("target: gradtool below the others" + (f"; above: {', '.join(above)}" if above else "; met"))


if __name__ == "__main__":
    main()
