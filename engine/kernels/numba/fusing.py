"""Backends that compile groups: at once where that is requested, else for plans that are hot."""

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
    def fusion_obstacle(self) -> str:
        return "" if find_spec(hot.COMPILER) else "Numba is not installed (pip install 'gradtool[numba]')"

    def time_groups(self, clock: Clock) -> Backend:
        from .group_times import MeasuredBackend

        return MeasuredBackend(self, clock)


class PatientBackend(FusingBackend):
    """*own* itself, but for plans that run often: their groups are compiled beside the runs, to the same bits.

    Args:
        own: a backend of NumPy's arrays.
        because: why it is the one in use, if it is.
    """

    def __init__(self, own: Backend, because: str) -> None:
        super().__init__(own.name, own.chain)
        self.eager, self.ops = own, own.ops
        self.key = f"{own.name} when hot"
        self._own, self._because = own, because

    @property
    def why(self) -> str:
        groups = f"plans are compiled from their run {hot.RUNS} on, to the same bits"
        if find_spec(hot.COMPILER) is None:
            groups = "with gradtool[numba], plans that run often are compiled, to the same bits"
        return "; ".join(text for text in (self._because, self._own.remark, groups) if text)

    def tuning(self, plan: Any) -> Tuning:
        return hot.Heat(plan)
