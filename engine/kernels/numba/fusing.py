"""What the Numba backend does differently from NumPy: the elementwise parts of its plans are compiled."""

from __future__ import annotations

from typing import Any

import numpy

from ..backend import Backend, Tuning
from ..choice import reference
from . import tuning


class FusingBackend(Backend):
    """NumPy, with groups of instructions compiled; tensors of dynamic mode are left to the reference."""

    def __init__(self, name: str, chain: tuple[str, ...]) -> None:
        super().__init__(name, numpy, chain)
        self.eager = reference()

    def tuning(self, plan: Any) -> Tuning:
        return tuning.Tuning(plan)
