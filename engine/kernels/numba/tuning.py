"""From a plan that runs on NumPy to the same plan with groups compiled."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from .fused import FusedKernel
from .groups import ArrayFacts, InstructionGroup, group_code
from .lookups import insert_lookups


def observe(plan: Any, steps: Iterable[Any]) -> list[Any]:
    """Return what each instruction of *plan* read and gave in a run that *steps* carries out, as
    :data:`groups.Sights`.
    """
    sights: list[Any] = [None] * len(plan.instructions)
    for step in steps:
        sights[step.index] = (
            [ArrayFacts.describe(v) for v in step.inputs],
            [ArrayFacts.describe(v) for v in step.outputs],
        )
    return sights


def fuse(
    plan: Any, sights: Sequence[Any], pays: Callable[[InstructionGroup], bool] | None = None
) -> tuple[list[Any], list[FusedKernel]]:
    """The instructions of *plan* with groups in their places, and the kernels of these; nothing is compiled yet.

    Args:
        pays: whether a group is worth a function; by sizes if None.
    """
    code = plan.instructions
    freed = {r for i in code for r in i.dead}
    held = {r for i in code for r in i.outs if r not in freed}
    kernels: list[FusedKernel] = []
    steps: list[Any] = []
    for step in insert_lookups(group_code(code, sights, held, pays), code, sights):
        if isinstance(step, InstructionGroup):
            kernel = FusedKernel(step, code, plan.explain_error)
            kernels.append(kernel)
            steps.append(type(code[0])(None, kernel, tuple(step.inputs), tuple(step.outputs), spread=True))
        else:
            i = code[step]
            steps.append(type(i)(i.op, i.kernel, i.ins, i.outs, i.likes, i.spread, effect=i.effect, in_turn=i.in_turn))
    _free(steps, freed)
    return steps, kernels


def _free(steps: Sequence[Any], freed: set[int]) -> None:
    """Note after each step which of the registers that may be let go of nothing reads any more."""
    later: set[int] = set()
    for step in reversed(steps):
        touched = dict.fromkeys((*step.ins, *step.outs))
        step.dead = tuple(r for r in touched if r in freed and r not in later)
        later.update(touched)


class Tuning:
    """Sees the first run of a plan, and has its groups compiled then.

    Attributes:
        kernels: of the groups, once they are known.
    """

    def __init__(self, plan: Any) -> None:
        self.plan = plan
        self.kernels: list[FusedKernel] = []

    def __call__(self, steps: Iterable[Any]) -> bool:
        """Carry the plan out by its *steps*, if this run is to be seen; False where the plan has to do that itself."""
        from .compiling import compile_source  # LLVM is imported with it

        plan = self.plan
        plan.tuning = None
        sights = observe(plan, steps)
        steps, self.kernels = fuse(plan, sights)
        for kernel in self.kernels:
            kernel.compile(compile_source)
        plan.carry_out(steps)
        return True
