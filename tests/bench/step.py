"""A step of ten models: gradtool's programs and dynamic mode beside their products alone and beside peers.

    python -m tests.bench step                       # what is installed beside gradtool
    python -m tests.bench step --models mlp,chain --runs 50 --peer torch=/path/to/python --peer paddle=/path/to/python
    python -m tests.bench step --results docs/measured/step.json ...
    python -m tests.bench step --table docs/measured/step.json

Milliseconds of one forward and backward pass, the best of the runs, which take turns, ten at a time; then ratios: their
median over the turns, from the least to the largest. Every engine computes the loss and the gradients of all
parameters, which are compared before anything is timed. Only ratios on one quiet machine mean anything; with
OMP_NUM_THREADS=1 (and OPENBLAS_NUM_THREADS=1) times are those of CPU, which a busy one hardly changes.

``products alone`` are the matrix products of the step (convolutions as NumPy computes them), one after the other;
``static`` is the program on what is in use where the extras are installed: convolutions of oneDNN, groups compiled by
Numba; ``NumPy`` and ``Numba`` are backends asked for by name. ``JAX`` leaves data and gradients on the device,
as the step written by hand does (arrays of JAX are fed, ``return_numpy=False``); ``copied`` is the same step with what
an executor does by default: feeds go to the device every time, and all gradients come back as arrays of the caller's.
``watched`` is the step while ``nan`` looks for what is not finite.

Dynamic modes and peers run in processes of their own. A peer is named with the interpreter that has it;
GRADTOOL_BENCH_PEERS may hold the same, with commas between them. The last line is the time of ``chain`` by its
operators, forward and backward: what an operator on 4×4 tensors costs.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

from gradtool import paddle
from gradtool.engine.answers.coverage import Coverage
from gradtool.engine.answers.events import Adapter
from gradtool.engine.answers.nan import Hunt
from gradtool.engine.core import watch
from gradtool.engine.executor.judging import COMPILED
from gradtool.engine.kernels import choice
from gradtool.engine.kernels.numba import hot
from tests.bench.measuring import Contender, interpreters, machine
from tests.bench.step_engines import Static, Step, best
from tests.bench.step_models import CHAINED, MODELS, Made
from tests.bench.step_results import HEADINGS, Rounds, markdown, ratios, text, times

TURN = 10
"""Runs of a step before the next one has its turn."""

WARM = 2.0
"""Seconds of CPU after which every plan of these models is compiled that will be; see ``hot.py``."""


def program(made: Made, backend: str) -> Step:
    """A step of gradtool that fetches the loss and all gradients."""
    params, data, loss = made
    run, fetched = Static(paddle).program(params, data, loss, backend=backend)
    return lambda: run(feed=data, fetch_list=fetched)


def products(made: Made) -> Step:
    """The matrix products of a step, on arrays that lie as they do there."""
    multiply: Any = np.matmul
    operands: list[tuple[Any, Any]] = []

    def noted(x: Any, y: Any, **options: Any) -> Any:
        operands.append((x, y))
        return multiply(x, y, **options)

    with mock.patch.object(np, "matmul", noted):
        program(made, "numpy")()
    return lambda: [multiply(x, y) for x, y in operands]


def made_hot(step: Step) -> None:
    """Run *step* until groups of its plan are compiled."""
    begun = time.process_time()
    runs = 0
    while runs <= hot.RUNS or time.process_time() - begun < WARM:
        step()
        runs += 1
    hot.wait()
    for _ in range(COMPILED + 2):  # groups are compared with NumPy, and those of watched runs compiled
        step()


def watched(step: Step) -> Step:
    """*step* as ``nan`` runs it."""

    def run() -> Any:
        hunt = Hunt()
        adapter = Adapter(Coverage(hunt))
        with watch.watch(adapter):
            values = step()
            adapter.finish()
        assert hunt.steps == 1, "the backward pass was not looked at"
        assert hunt.story().clean, "something is not finite"
        return values

    return run


class Apart(Contender):
    """An engine with the models of this file."""

    def __init__(self, name: str, python: str) -> None:
        super().__init__("tests.bench.step_engines", name, python, FLAGS_enable_pir_api="0")

    def take(self, model: str) -> list[Any] | None:
        """Make the step of *model*; the loss and the gradients that it gives, None where it does not give all."""
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "values.npz"
            answer = self.ask(model=model, file=str(file))
            if "lacks" in answer:
                print(f"{model}: {self.name} gives {answer['lacks']}", file=sys.stderr, flush=True)
                return None
            with np.load(file) as values:
                return [values[f"arr_{i}"] for i in range(len(values))]

    def best(self, runs: int) -> float:
        """Seconds of the shortest of the runs."""
        return float(self.ask(runs=runs)["best"])


def compared(expected: list[Any], here: list[Any], what: str) -> None:
    """Raise where an engine computes something else: a fast wrong answer does not count."""
    for a, b in zip(expected, here, strict=True):
        a, b = np.asarray(a, "float64"), np.asarray(b, "float64")
        assert np.abs(a - b).max() <= 2e-3 * max(np.abs(a).max(), 1e-12), what


def measured(model: str, apart: Sequence[Apart], runs: int) -> Rounds:
    """The rounds of every engine on one model."""
    made = MODELS[model](np.random.default_rng(7))
    steps = {"numpy": program(made, "numpy")}
    expected = steps["numpy"]()
    if find_spec("numba"):
        steps["numba"] = program(made, "numba")
        for _ in range(3):  # groups are compiled after the first run, and compared in the second
            assert all(map(np.array_equal, expected, steps["numba"]())), f"numba of {model}"
    steps["static"] = program(made, choice.current().name)
    steps["static-watched"] = watched(steps["static"])
    for name in ("static", "static-watched"):
        made_hot(steps[name])
    if find_spec("jax"):
        from tests.bench import step_jax

        steps |= {
            "copied": program(made, "jax"),
            "jax": step_jax.there(paddle, made),
            "jax.jit": step_jax.by_hand(made),
        }
        steps["watched"] = watched(steps["jax"])
    for name, step in steps.items():
        compared(expected, step(), f"{name} of {model}")
    steps["products"] = products(made)
    timed: dict[str, Callable[[int], float]] = {name: partial(best, step) for name, step in steps.items()}
    for engine in apart:
        values = engine.take(model)
        if values is None:
            continue
        compared(expected, values, f"{engine.name} of {model}")
        timed["dynamic" if engine.name == "gradtool" else engine.name] = engine.best
    rounds: Rounds = {name: [] for name in HEADINGS if name in timed}
    for _ in range(-(-runs // TURN)):
        for name, times_of in rounds.items():
            times_of.append(timed[name](TURN) * 1e3)
    return rounds


def versions(apart: Sequence[Apart]) -> dict[str, str]:
    """Of every engine and library that computes."""
    found = {engine.name: engine.version for engine in apart if engine.name != "paddle-static"}
    for name in ("numba", "jax"):
        if find_spec(name):
            found[name] = __import__(name).__version__
    return {**found, "numpy": np.__version__}


def main() -> None:
    """Print the tables that are asked for."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.bench step", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--models", default=",".join(MODELS))
    parser.add_argument("--runs", type=int, default=30)
    parser.add_argument("--device", help="of JAX: cpu, gpu, tpu")
    parser.add_argument("--peer", action="append", metavar="NAME=PYTHON", help="torch=… or paddle=…; repeatable")
    parser.add_argument("--results", type=Path, help="write what was found to this file, as JSON")
    parser.add_argument("--table", type=Path, help="print such a file as tables in Markdown")
    options = parser.parse_args()
    if options.table:
        print(markdown(json.loads(options.table.read_text(encoding="utf-8"))))
        return
    named = interpreters(parser, options.peer)
    if "paddle" in named:
        named["paddle-static"] = named["paddle"]
    apart = [Apart(*pair) for pair in named.items()]
    paddle.enable_static()
    found: dict[str, Rounds] = {}
    with choice.backend("jax").settings(options.device) if find_spec("jax") else nullcontext():
        for model in options.models.split(","):
            found[model] = measured(model, apart, options.runs)
            print(f"{model}: done", file=sys.stderr, flush=True)
    print(text(times(found)), text(ratios(found)), sep="\n\n")
    if "chain" in found:
        each = [
            f"{HEADINGS[c]} {min(found['chain'][c]) / CHAINED * 1e3:.2f}"
            for c in ("dynamic", "torch", "paddle")
            if c in found["chain"]
        ]
        print("\nµs for each operator of chain:", ", ".join(each))
    if options.results:
        results = {"machine": machine(), "versions": versions(apart), "runs": options.runs, "models": found}
        options.results.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    for engine in apart:
        engine.end()


if __name__ == "__main__":
    main()
