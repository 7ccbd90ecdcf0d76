"""A step of training of public models in dynamic mode, beside Paddle's.

    python -m tests.bench zoo --peer paddle=PYTHON --results docs/measured/zoo.json
    python -m tests.bench zoo --models pinn,deit --peer paddle=PYTHON --peer paddle=PYTHON --threads 2
    python -m tests.bench zoo --table docs/measured/zoo.json

Milliseconds of one step: forward, backward, the optimizer's, ``clear_grad``; the same file of ``tests/zoo/models``
under every engine, in the sizes of ``tests/bench/zoo_models.py``, with the same weights and data; ``NAME tiny`` is a
model of any file there as it stands, where a step is mostly what calls cost beside arithmetic. Every engine is a
process of its own; ``numpy`` is gradtool without extras, ``gradtool`` what it chooses by itself, with the extras that
are installed. The losses of the first steps are compared before anything is timed. Engines take turns, the shortest
step of a turn counts, and of all turns the shortest; a ratio is that of these, beside the least and largest of the
turns. On one thread (the default) times are those of CPU, which other work of the machine hardly changes. The target:
at most 0.8 of each Paddle.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from tests.bench.measuring import Contender, machine, peers
from tests.bench.zoo_models import ROWS

STEPS = 2
"""Whose losses are compared."""
TURN = 0.2
"""Seconds of a turn in which more steps than were asked for are taken."""
EXTRAS = ("numpy", "numba", "onednn-cpu-gomp")
Times = dict[str, list[float]]


def main() -> None:
    """Print a row for each model."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench zoo", description=__doc__)
    parser.add_argument("--models", default=",".join(ROWS))
    parser.add_argument("--peer", action="append", metavar="NAME=PYTHON", help="paddle=…; repeatable")
    parser.add_argument("--rounds", type=int, default=4, help="turns of every engine")
    parser.add_argument("--runs", type=int, default=4, help="steps in a turn")
    parser.add_argument("--threads", type=int, default=1, help="of every engine")
    parser.add_argument("--results", type=Path, help="write them to this file, as JSON")
    parser.add_argument("--table", type=Path, help="print such a file as a table in Markdown")
    options = parser.parse_args()
    if options.table:
        print(markdown(json.loads(options.table.read_text(encoding="utf-8"))))
        return
    wanted = [pair for pair in peers(parser, options.peer) if pair[0] == "paddle"]
    engines = contenders(wanted, options.threads)
    results: dict[str, Any] = {
        "machine": {**machine(), "processors": os.cpu_count(), "threads": options.threads},
        "versions": {name: installed(name) for name in EXTRAS},
        "models": {},
    }
    print(f"{'model':<20}" + "".join(f"{name:>16}" for name in engines), flush=True)
    for model in options.models.split(","):
        agree(model, engines)
        times = taken(engines, options.rounds, options.runs)
        results["models"][model] = times
        print(f"{model:<20}" + "".join(f"{min(t) * 1e3:>16.2f}" for t in times.values()) + told(times), flush=True)
        if options.results:
            options.results.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    for engine in engines.values():
        engine.end()


def contenders(wanted: list[tuple[str, str]], threads: int) -> dict[str, Contender]:
    """The engines by the names of their columns."""
    limits = {f"{name}_NUM_THREADS": str(threads) for name in ("OMP", "OPENBLAS", "MKL")}
    limits["FLAGS_paddle_num_threads"] = str(threads)
    module = "tests.bench.zoo_process"
    bare = Contender(module, "gradtool", sys.executable, **limits, GRADTOOL_BACKEND="numpy")
    others = [Contender(module, name, python, **limits) for name, python in [("gradtool", sys.executable), *wanted]]
    return {"numpy": bare, **{f"{e.name} {e.version}": e for e in others}}


def installed(package: str) -> str | None:
    """The version of a package of this interpreter."""
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def agree(model: str, engines: dict[str, Contender]) -> None:
    """Have every engine make *model*; raise where losses differ: a fast wrong answer does not count.

    The first loss is the same but for rounding. In deep networks with batch norm this grows a thousandfold in a step,
    so the second loss, which shows what the optimizer did, is compared with how far it has come.
    """
    losses = {name: engine.ask(model=model, steps=STEPS)["losses"] for name, engine in engines.items()}
    first = next(iter(losses.values()))
    for name, here in losses.items():
        bounds = [1e-4 * abs(first[0]), *(0.1 * abs(loss - first[0]) for loss in first[1:])]
        close = [abs(a - b) <= bound for a, b, bound in zip(first, here, bounds, strict=True)]
        assert all(close), f"{model}: {name} has losses {here}, numpy {first}"


def taken(engines: dict[str, Contender], rounds: int, runs: int) -> Times:
    """By engine the seconds of each of its turns: of the shortest step in it."""
    times: Times = {name: [] for name in engines}
    longest = max(engine.ask(runs=1)["best"] for engine in engines.values())
    for _ in range(rounds):
        for name, engine in engines.items():
            times[name].append(engine.ask(runs=max(runs, int(TURN / longest)))["best"])
    return times


def ratios(times: Times) -> dict[tuple[str, str], tuple[float, float, float]]:
    """For each column of gradtool and each peer: the ratio of the shortest, the least of the turns, and the largest."""
    own, others = list(times)[:2], list(times)[2:]
    found = {}
    for peer in others:
        for name in own:
            turns = [a / b for a, b in zip(times[name], times[peer], strict=True)]
            found[name, peer] = min(times[name]) / min(times[peer]), min(turns), max(turns)
    return found


def told(times: Times) -> str:
    """The ratios as they are printed."""
    return "".join(f"   {ratio:.2f} ({low:.2f}-{high:.2f})" for ratio, low, high in ratios(times).values())


def markdown(results: dict[str, Any]) -> str:
    """The table of such a file."""
    models: dict[str, Times] = results["models"]
    columns = list(next(iter(models.values())))
    pairs = list(ratios(next(iter(models.values()))))
    heads = [*columns, *(f"{own.partition(' ')[0]} / {peer}" for own, peer in pairs)]
    lines = ["| ms | " + " | ".join(heads) + " |", "|--" * (len(heads) + 1) + "|"]
    for model, times in models.items():
        cells = [f"{min(t) * 1e3:.1f}" if min(t) > 0.01 else f"{min(t) * 1e3:.2f}" for t in times.values()]
        cells += [f"{ratio:.2f} ({low:.2f}–{high:.2f})" for ratio, low, high in ratios(times).values()]
        lines.append("| " + " | ".join([model, *cells]) + " |")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
