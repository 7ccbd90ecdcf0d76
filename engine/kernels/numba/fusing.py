"""What backends that compile groups do differently from NumPy: at once where asked for, else for plans that are hot."""

from __future__ import annotations

from typing import Any

import numpy

from ..backend import Backend, Tuning
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


class PatientBackend(FusingBackend):
    """The reference itself, but for plans that run often: their groups are compiled beside the runs."""

    def __init__(self) -> None:
        own = reference()
        super().__init__(own.name, own.chain)
        self.ops = own.ops
        self.key = f"{own.name} when hot"

    def tuning(self, plan: Any) -> Tuning:
        return hot.Heat(plan)
