"""The zoo's models as programs on Numba beside NumPy, watched and not: ``python -m tests.kernels.numba.zoo [NAME…]``.

Forward and backward of each model are one program, which runs a few times on both backends with the same feeds and the
same random numbers. All that is fetched is the same to the bit: the loss and the gradient of every parameter.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import gradtool
from gradtool.engine.answers.events import Adapter
from gradtool.engine.answers.nan import Hunt
from gradtool.engine.core import watch
from gradtool.engine.core.errors import GradtoolError
from gradtool.engine.executor.judging import COMPILED
from gradtool.engine.executor.plan import Plan
from gradtool.engine.kernels.numba.fused import FusedKernel, same
from gradtool.paddle import _alias, static
from tests.zoo.measured import NAMES

RUNS = 4
"""Groups are compiled after the first run, and compared in the second."""


@dataclass
class Compared:
    """One model.

    Attributes:
        operators: how many operators its plan carries out.
        grouped: how many of them are in groups.
        differences: what is not the same, in words.
        refused: why there is no program of it; empty where there is.
    """

    name: str
    operators: int = 0
    grouped: int = 0
    differences: list[str] = field(default_factory=list)
    refused: str = ""


def compared(name: str, watched: bool = True) -> Compared:
    """Run a model's program on both backends.

    Args:
        watched: whether to have ``nan`` look on, too, until the groups are compiled with its look.
    """
    outcome = Compared(name)
    gradtool.paddle.enable_static()
    main, startup = static.Program(), static.Program()
    with _alias.active(), static.program_guard(main, startup), gradtool.paddle.utils.unique_name.guard():
        from tests.paddle_files.recording import of_zoo

        try:
            built = of_zoo(name)
            fetched = [built.loss, *(g for _, g in built.backward())]
        except (GradtoolError, TypeError, ValueError) as error:  # what dynamic mode alone can do
            outcome.refused = f"{type(error).__name__}: {str(error).splitlines()[0]}"
            return outcome

    def runs(backend: str, count: int, plans: list[Plan]) -> list[list[Any]]:
        gradtool.paddle.seed(0)
        with static.scope_guard(static.Scope()):
            executor = static.Executor(backend=backend)
            executor.run(startup)
            given = [executor.run(main, feed=built.feed, fetch_list=fetched) for _ in range(count)]
            assert executor.plan is not None
            plans.append(executor.plan)
            return given

    plans: list[Plan] = []
    expected, here = runs("numpy", RUNS, []), runs("numba", RUNS, plans)
    outcome.differences += _apart("unwatched", fetched, expected, here)
    code = [i for plan in plans for i in plan.path[0]]
    outcome.operators = sum(i.op is not None for plan in plans for i in plan.instructions)
    outcome.grouped = sum(len(i.kernel.operators) for i in code if isinstance(i.kernel, FusedKernel))
    if watched:
        count = COMPILED + RUNS
        hunt = Hunt()
        with watch.watch(adapter := Adapter(hunt)):
            seen = runs("numba", count, [])
            adapter.finish()
        outcome.differences += _apart("watched", fetched, runs("numpy", count, []), seen)
    return outcome


def _apart(how: str, fetched: list[Any], expected: list[list[Any]], here: list[list[Any]]) -> list[str]:
    return [
        f"{how}, run {n}: {v.name}"
        for n, (wanted, given) in enumerate(zip(expected, here, strict=True))
        for v, a, b in zip(fetched, wanted, given, strict=True)
        if not same(np.asarray(a), np.asarray(b))
    ]


def main() -> int:
    """Print a row for each model that is named, or for all."""
    outcomes = []
    for name in sys.argv[1:] or NAMES:
        outcomes.append(o := compared(name))
        told = o.refused or f"{o.operators:>6} operators{o.grouped:>6} in groups  {'; '.join(o.differences[:4])}"
        print(f"{name:<28}{told}", flush=True)
    return 1 if any(o.differences for o in outcomes) else 0


if __name__ == "__main__":
    sys.exit(main())
