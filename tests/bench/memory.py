"""Dynamic mode: what a deep perceptron retains for backward, and how the peak of the backward pass follows it.

    python -m tests.bench memory
    python -m tests.bench memory --depths 8 128 --width 256 --batch 512

Kilobytes, as tracemalloc counts them (NumPy reports its arrays to it). Each row is a fresh process; the columns are

    retained   what the recorded graph keeps: allocated after the forward part, the loss alone still being held
    gradients  of the parameters, which stay
    peak       the most that was allocated at once during backward, with retain_graph=False
    ratio      peak / (retained + one layer's gradients)
    left       after backward: gradients and little else
    kept peak  the peak with retain_graph=True, where the graph and all gradients are there at the end
    kept left  after that

With peers, what whole processes hold that train one model, beside theirs::

    python -m tests.bench memory --peer torch=PYTHON --peer paddle=PYTHON --results docs/measured/memory.json
    python -m tests.bench memory --table docs/measured/memory.json

Megabytes of the largest resident set after ten steps, each model in a process of its own that runs on
one thread; the first row is what importing the engine alone takes. ``static`` is a program of gradtool, and ``plan``
what its plan counts as alive at most, parameters and data beside.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import platform
import subprocess
import tracemalloc
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.bench.measuring import ROOT, child, interpreters

SIX = ("mlp", "conv", "transformer", "lstm", "ctr", "chain")
MODELS = (*SIX, "bert", "resnet", "swin", "bst", "iprec")
"""Those of ``python -m tests.bench step``, three of the zoo, and both of ``python -m tests.bench recommenders``: the
zoo has a small ``bst`` as well, this one is large."""
COLUMNS = ("retained", "gradients", "peak", "ratio", "left", "kept peak", "kept left")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.bench memory", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--depths", nargs="*", type=int, default=[4, 8, 16, 32, 64, 128], help="layers")
    parser.add_argument("--width", type=int, default=64)
    parser.add_argument("--batch", type=int, default=512)
    parser.add_argument("--peer", action="append", metavar="NAME=PYTHON", help="torch=… or paddle=…; repeatable")
    parser.add_argument("--models", default=",".join(MODELS), help="of whole processes")
    parser.add_argument("--results", type=Path, help="write what whole processes hold to this file, as JSON")
    parser.add_argument("--table", type=Path, help="print such a file as a table in Markdown")
    parser.add_argument("--one", nargs=3, type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(json.dumps(measure(*options.one)))
        return
    if options.table:
        print(markdown(json.loads(options.table.read_text(encoding="utf-8"))))
        return
    engines = interpreters(parser, options.peer)
    if len(engines) > 1:
        results = processes(engines, options.models.split(","))
        if options.results:
            options.results.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
        print(markdown(results))
        return
    print(f"{'depth':<8}" + "".join(f"{c:>11}" for c in COLUMNS))
    for depth in options.depths:
        row = child("memory", "--one", str(depth), str(options.width), str(options.batch))
        print(f"{depth:<8}" + "".join(f"{row[c]:>11.2f}" if c == "ratio" else f"{row[c]:>11.0f}" for c in COLUMNS))


STEPS = 10
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def processes(engines: dict[str, str], models: Sequence[str]) -> dict[str, Any]:
    """What whole processes hold, with the machine and the versions that they ran on."""
    order = ["gradtool", "static", *[e for e in engines if e != "gradtool"]]
    held: dict[str, dict[str, Any]] = {model: {} for model in models}
    versions: dict[str, str] = {}
    for model in models:
        for engine in order:
            if (engine == "static" and model not in SIX) or (engine == "torch" and model not in SIX):
                continue
            python = engines["gradtool" if engine == "static" else engine]
            row = _process(engine, python, model)
            versions[engine] = row.pop("version").partition("+")[0]
            held[model][engine] = row
    del versions["static"]
    machine = {"system": platform.system(), "processor": platform.machine(), "python": platform.python_version()}
    return {"machine": machine, "versions": versions, "steps": STEPS, "models": held}


def _process(engine: str, python: str, model: str) -> dict[str, Any]:
    environment = {**os.environ, **dict.fromkeys(THREADS, "1"), "GLOG_minloglevel": "3"}
    command = [python, "-W", "ignore", "-m", "tests.bench.memory_process", engine, model, str(STEPS)]
    done = subprocess.run(command, cwd=ROOT, env=environment, check=True, stdout=subprocess.PIPE, text=True)
    return dict(json.loads(done.stdout.splitlines()[-1]))


def markdown(results: dict[str, Any]) -> str:
    """The table of what :func:`processes` gives."""
    versions, models = results["versions"], results["models"]
    engines = [*versions]
    names = [f"{'PyTorch' if e == 'torch' else e.title()} {versions[e]}" for e in engines[1:]]
    lines = ["| MB | gradtool | static | plan | " + " | ".join(names) + " |", "|--" * (4 + len(names)) + "|"]
    first = next(iter(models.values()))
    imported = [f"{first[e]['imported']:.0f}" if e in first else "" for e in engines]
    lines.append(f"| imported | {imported[0]} | | | " + " | ".join(imported[1:]) + " |")
    for model, row in models.items():
        plan = f"{row['static']['plan']:.1f}" if "static" in row else ""
        cells = [f"{row[e]['peak']:.0f}" if e in row else "" for e in ("gradtool", "static", *engines[1:])]
        lines.append("| " + " | ".join([model, *cells[:2], plan, *cells[2:]]) + " |")
    return "\n".join(lines)


def measure(depth: int, width: int, batch: int) -> dict[str, float]:
    from gradtool import paddle

    layers = [paddle.nn.Linear(width, width) for _ in range(depth)]
    x = paddle.randn([batch, width])
    one_pass(paddle, layers, x, False)  # what is made once: operators, bound kernels
    gradients = sum(p.grad.numpy().nbytes for layer in layers for p in layer.parameters())
    sizes: dict[str, float] = {"gradients": gradients}
    sizes["retained"], sizes["peak"], sizes["left"] = one_pass(paddle, layers, x, False)
    sizes["ratio"] = sizes["peak"] / (sizes["retained"] + gradients / depth)
    _, sizes["kept peak"], sizes["kept left"] = one_pass(paddle, layers, x, True)
    return {name: value if name == "ratio" else value / 1024 for name, value in sizes.items()}


def one_pass(paddle: Any, layers: list[Any], x: Any, retain_graph: bool) -> tuple[int, int, int]:
    """Bytes retained after the forward part, at the peak of backward, and left after it."""
    for layer in layers:
        layer.clear_gradients(False)
    gc.collect()
    tracemalloc.start()
    h = x
    for layer in layers:
        h = paddle.tanh(layer(h))
    loss = paddle.mean(h)
    del h
    retained = tracemalloc.get_traced_memory()[0]
    tracemalloc.reset_peak()
    loss.backward(retain_graph=retain_graph)
    left, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return retained, peak, left


if __name__ == "__main__":
    main()
