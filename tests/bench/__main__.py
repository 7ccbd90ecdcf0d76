"""What gradtool costs, per operator and as a whole process.

Run from the top of the repository::

    python -m tests.bench                          # 1k, 10k and 100k operators, then the command line
    python -m tests.bench --sizes 1k 10k 100k 1M   # a million needs some 5 GB and minutes
    python -m tests.bench --shapes wide --no-cli

Two shapes of programs are measured: ``chain`` (each operator reads the one before) and ``wide`` (each reads the same
variable, and one ``sum`` adds them all up). Every measurement is a fresh process; the columns are

    build      microseconds per forward operator, through the functions that users call
    backward   append_backward, per forward operator
    again      the same call once more, which finds all it needs in the program
    clone      per operator of the whole program, backward part included
    lower      making the plan of the whole program, per operator
    bare       the NumPy calls of a chain's forward part in a plain loop, nanoseconds each (six elements)
    run fwd    the same by a plan's loop, per instruction
    run all    the loop over the whole program, per instruction (a gradient of tanh is three NumPy calls)
    KB fwd     memory that the forward part takes, per operator (resident set)
    KB all     memory of the whole program, per operator

Nothing here is asserted: the targets are printed beside what was found, and a person reads them.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
SAMPLE = "samples/word_embedding.py"
COLUMNS = ("build", "backward", "again", "clone", "lower", "bare", "run fwd", "run all", "KB fwd", "KB all")
GROWTH = 1.5
"""How much more an operator may cost in the largest program than in one of 10,000."""
LIMITS = {"--help": 0.1, "backward SAMPLE": 0.4}


def main() -> None:
    """Measure what the command line asks for and print tables."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--sizes", nargs="*", default=["1k", "10k", "100k"], help="operators: 500, 10k, 1M")
    parser.add_argument("--shapes", nargs="*", default=["chain", "wide"], choices=["chain", "wide"])
    parser.add_argument("--runs", type=int, default=15, help="runs of each command")
    parser.add_argument("--sample", default=SAMPLE, help="the model file for 'gradtool backward'")
    parser.add_argument("--no-cli", action="store_true", help="leave out the command line")
    parser.add_argument("--no-peers", action="store_true", help="leave out other packages")
    parser.add_argument("--one", nargs=2, metavar=("SHAPE", "SIZE"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(json.dumps(measure(options.one[0], int(options.one[1]))))
        return
    sizes = [number(s) for s in options.sizes]
    for shape in options.shapes:
        table(shape, sizes)
    if not options.no_peers:
        peers()
    if not options.no_cli:
        commands(options.runs, options.sample)


def number(text: str) -> int:
    """``10k`` -> 10000, ``1M`` -> 1000000."""
    factor = {"k": 1_000, "K": 1_000, "M": 1_000_000}.get(text[-1:], 1)
    return int(text[:-1] if factor > 1 else text) * factor


# -- programs ---------------------------------------------------------------------------------------------------------


def table(shape: str, sizes: list[int]) -> None:
    """One row per size, and how the largest compares with 10,000 operators."""
    print(f"\n{shape:<10}" + "".join(f"{c:>10}" for c in COLUMNS))
    found: dict[int, dict[str, float]] = {}
    for size in sizes:
        child = [sys.executable, "-m", "tests.bench", "--one", shape, str(size)]
        out = subprocess.run(child, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout
        found[size] = json.loads(out.splitlines()[-1])
        row = found[size]
        print(f"{size:<10}" + "".join(f"{row[c]:>10.2f}" if c in row else f"{'':>10}" for c in COLUMNS), flush=True)
    if 10_000 in found and max(found) > 10_000:
        small, large = found[10_000], found[max(found)]
        ratios = {c: large[c] / small[c] for c in COLUMNS if small.get(c)}
        print(f"{'ratio':<10}" + "".join(f"{ratios[c]:>10.2f}" if c in ratios else f"{'':>10}" for c in COLUMNS))
        over = [c for c in ("build", "backward", "again", "clone", "lower") if ratios[c] > GROWTH]
        print(f"target: at most {GROWTH} times per operator" + (f"; over it: {', '.join(over)}" if over else "; met"))


def measure(shape: str, size: int) -> dict[str, float]:
    """All columns for one program, in this process."""
    import numpy as np

    import gradtool as paddle
    from gradtool._dispatch import apply
    from gradtool.engine.executor.lower import lower
    from gradtool.engine.kernels.backend import backend

    paddle.enable_static()
    warm_up(paddle, apply)
    main_program = paddle.static.Program()
    found: dict[str, float] = {}
    with paddle.static.program_guard(main_program, paddle.static.Program()):
        x = paddle.static.data("x", [2, 3], "float64")
        x.stop_gradient = False
        before = memory()
        start = time.perf_counter()
        h = x
        if shape == "chain":
            for _ in range(size):
                h = apply("tanh", h)
        else:
            h = apply("sum", [apply("tanh", x) for _ in range(size - 1)])
        loss = apply("reduce_mean", h, attrs={"reduce_all": True})
        found["build"] = (time.perf_counter() - start) / size * 1e6
        found["KB fwd"] = (memory() - before) / size / 1024
        pairs, seconds = timed(lambda: paddle.static.append_backward(loss, [x]))
        found["backward"] = seconds / size * 1e6
        total = len(main_program.global_block().ops)
        found["KB all"] = (memory() - before) / total / 1024
        found["again"] = timed(lambda: paddle.static.append_backward(loss, [x]))[1] / size * 1e6
        assert len(main_program.global_block().ops) == total
        fetch = [loss.name, pairs[0][1].name]
        plan, seconds = timed(lambda: lower(main_program, {"x"}, fetch, backend("numpy")))
        found["lower"] = seconds / total * 1e6
        value = np.linspace(-1, 1, 6).reshape(2, 3)
        if shape == "chain":
            found["bare"] = min(timed(lambda: bare(np.tanh, value, size))[1] for _ in range(3)) / size * 1e9
        found["run all"] = loop(plan, value)
        found["run fwd"] = loop(lower(main_program, {"x"}, fetch[:1], backend("numpy")), value)
        found["clone"] = timed(main_program.clone)[1] / total * 1e6
    return found


def loop(plan: Any, value: Any) -> float:
    """Nanoseconds per instruction of the plan's loop, the best of three."""
    seconds = min(timed(lambda: plan.run(plan.registers({"x": value}, {})))[1] for _ in range(3))
    return seconds / len(plan.code) * 1e9


def warm_up(paddle: Any, apply: Callable[..., Any]) -> None:
    """Load the definitions and derive the gradient operators that the measured program needs."""
    with paddle.static.program_guard(paddle.static.Program(), paddle.static.Program()):
        x = paddle.static.data("x", [2, 3], "float64")
        x.stop_gradient = False
        loss = apply("reduce_mean", apply("sum", [apply("tanh", x), apply("tanh", x)]), attrs={"reduce_all": True})
        paddle.static.append_backward(loss, [x])


def bare(function: Callable[[Any], Any], value: Any, count: int) -> Any:
    """*count* calls with nothing around them."""
    for _ in range(count):
        value = function(value)
    return value


def timed(action: Callable[[], Any]) -> tuple[Any, float]:
    start = time.perf_counter()
    result = action()
    return result, time.perf_counter() - start


def memory() -> float:
    """Bytes that this process holds now (the most that it has held, where the system does not say)."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024.0
    return float(pages * os.sysconf("SC_PAGE_SIZE"))


# -- other packages ---------------------------------------------------------------------------------------------------


def peers(count: int = 20_000) -> None:
    """A chain forward and backward in PyTorch, as far as it is installed here."""
    try:
        import torch  # type: ignore[import-not-found]
    except ImportError:
        print("\npeers: torch is not installed")
        return
    torch.set_num_threads(1)

    def chain() -> None:
        x = torch.linspace(-1, 1, 6, dtype=torch.float64).reshape(2, 3).requires_grad_()
        bare(torch.tanh, x, count).mean().backward()

    chain()
    print(f"\ntorch, chain of tanh, forward and backward: {timed(chain)[1] / count * 1e9:.0f} ns per operator")


# -- whole processes --------------------------------------------------------------------------------------------------


def commands(runs: int, sample: str) -> None:
    """Medians of whole runs of the command, as installed: its byte code is there and is read from disk."""
    beside = shutil.which("gradtool", path=str(Path(sys.executable).parent))
    program = [beside] if beside else [sys.executable, "-m", "gradtool.cli.main"]
    lines = {"--help": ["--help"], "backward SAMPLE": ["backward", sample]}
    print(f"\n{'gradtool …':<20}{'median s':>10}{'fastest':>10}{'target':>10}")
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
