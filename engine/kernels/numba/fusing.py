"""What backends that compile groups do differently from NumPy: at once where asked for, else for plans that are hot."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import numpy

from ..backend import Backend, Clock, Tuning
from ..choice import reference
from . import hot


class FusingBackend(Backend):
    """NumPy, with groups of instructions compiled; tensors of dynamic mode are left to the reference."""

    def __init__(self, name: str, chain: tuple[str, ...]) -> None:
        super().__init__(name, numpy, chain)
        self.eager = reference()

    def tuning(self, plan: Any) -> Tuning:
        from .tuning import Tuning

        return Tuning(plan)

    @property
    def unfused(self) -> str:
        return "" if find_spec(hot.COMPILER) else "Numba is not installed (pip install 'gradtool[numba]')"

    def in_groups(self, clock: Clock) -> Backend:
        from .measured import MeasuredBackend

        return MeasuredBackend(self, clock)


class PatientBackend(FusingBackend):
    """The reference itself, but for plans that run often: their groups are compiled beside the runs."""

    def __init__(self) -> None:
        own = reference()
        super().__init__(own.name, own.chain)
        self.ops = own.ops
        self.key = f"{own.name} when hot"

    @property
    def why(self) -> str:
        """Nobody has said what computes."""
        if find_spec(hot.COMPILER) is None:
            return "nobody has chosen; with gradtool[numba], plans that run often are compiled, to the same bits"
        return f"nobody has chosen; plans are compiled from their run {hot.RUNS} on, to the same bits"

    def tuning(self, plan: Any) -> Tuning:
        return hot.Heat(plan)
