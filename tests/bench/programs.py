"""Static programs: what an operator costs to build, differentiate, clone, plan and run.

    python -m tests.bench programs                          # 1k, 10k and 100k operators
    python -m tests.bench programs --sizes 1k 10k 100k 1M   # a million needs some 5 GB and minutes
    python -m tests.bench programs --shapes wide

Two shapes of programs are measured: ``chain`` (each operator reads the one before) and ``wide`` (each reads the same
variable, and one ``sum`` adds them all up). Every measurement is a fresh process, and times are CPU time, which a busy
machine changes less; the columns are

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
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from typing import Any

from tests.bench.measuring import child, consumed, memory, number

COLUMNS = ("build", "backward", "again", "clone", "lower", "bare", "run fwd", "run all", "KB fwd", "KB all")
GROWTH = 1.5
"""How much more an operator may cost in the largest program than in one of 10,000."""


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.bench programs", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--sizes", nargs="*", default=["1k", "10k", "100k"], help="operators: 500, 10k, 1M")
    parser.add_argument("--shapes", nargs="*", default=["chain", "wide"], choices=["chain", "wide"])
    parser.add_argument("--one", nargs=2, metavar=("SHAPE", "SIZE"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(json.dumps(measure(options.one[0], int(options.one[1]))))
        return
    for shape in options.shapes:
        table(shape, [number(s) for s in options.sizes])


def table(shape: str, sizes: list[int]) -> None:
    """One row per size, and how the largest compares with 10,000 operators."""
    print(f"\n{shape:<10}" + "".join(f"{c:>10}" for c in COLUMNS))
    rows: dict[int, dict[str, float]] = {}
    for size in sizes:
        rows[size] = child("programs", "--one", shape, str(size))
        row = rows[size]
        print(f"{size:<10}" + "".join(f"{row[c]:>10.2f}" if c in row else f"{'':>10}" for c in COLUMNS), flush=True)
    if 10_000 in rows and max(rows) > 10_000:
        small, large = rows[10_000], rows[max(rows)]
        ratios = {c: large[c] / small[c] for c in COLUMNS if small.get(c)}
        print(f"{'ratio':<10}" + "".join(f"{ratios[c]:>10.2f}" if c in ratios else f"{'':>10}" for c in COLUMNS))
        over = [c for c in ("build", "backward", "again", "clone", "lower") if ratios[c] > GROWTH]
        print(f"target: at most {GROWTH} times per operator" + (f"; over it: {', '.join(over)}" if over else "; met"))


def measure(shape: str, size: int) -> dict[str, float]:
    """All columns for one program, in this process."""
    import numpy as np

    from gradtool import paddle
    from gradtool.engine.executor.lower import lower
    from gradtool.engine.kernels.choice import backend
    from gradtool.paddle._dispatch import apply

    paddle.enable_static()
    warm_up(paddle, apply)
    main_program = paddle.static.Program()
    figures: dict[str, float] = {}
    with paddle.static.program_guard(main_program, paddle.static.Program()):
        x = paddle.static.data("x", [2, 3], "float64")
        x.stop_gradient = False
        before = memory()
        start = time.process_time()
        h = x
        if shape == "chain":
            for _ in range(size):
                h = apply("tanh", h)
        else:
            h = apply("sum", [apply("tanh", x) for _ in range(size - 1)])
        loss = apply("reduce_mean", h, attrs={"reduce_all": True})
        figures["build"] = (time.process_time() - start) / size * 1e6
        figures["KB fwd"] = (memory() - before) / size / 1024
        pairs, seconds = consumed(lambda: paddle.static.append_backward(loss, [x]))
        figures["backward"] = seconds / size * 1e6
        total = len(main_program.global_block().ops)
        figures["KB all"] = (memory() - before) / total / 1024
        figures["again"] = consumed(lambda: paddle.static.append_backward(loss, [x]))[1] / size * 1e6
        assert len(main_program.global_block().ops) == total
        fetch = [loss.name, pairs[0][1].name]
        plan, seconds = consumed(lambda: lower(main_program, {"x"}, fetch, backend("numpy")))
        figures["lower"] = seconds / total * 1e6
        value = np.linspace(-1, 1, 6).reshape(2, 3)
        if shape == "chain":
            figures["bare"] = min(consumed(lambda: bare(np.tanh, value, size))[1] for _ in range(3)) / size * 1e9
        figures["run all"] = loop(plan, value)
        figures["run fwd"] = loop(lower(main_program, {"x"}, fetch[:1], backend("numpy")), value)
        figures["clone"] = consumed(main_program.clone)[1] / total * 1e6
    return figures


def loop(plan: Any, value: Any) -> float:
    """Nanoseconds per instruction of the plan's loop, the best of three."""
    seconds = min(consumed(lambda: plan.run(plan.registers({"x": value}, {})))[1] for _ in range(3))
    return seconds / len(plan.instructions) * 1e9


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


if __name__ == "__main__":
    main()
