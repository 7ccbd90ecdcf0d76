"""Shared parts of measures for pictures: norms, and a stopwatch for dynamic mode."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..answers import magnitudes
from ..core import watch
from ..eager.tape import GradNode
from ..view.graph import BACKWARD

RUNS = 5
"""Runs that times are taken from; the shortest of each operator counts, the others were disturbed."""


class Stopwatch:
    """Listens to step events of dynamic mode and notes what kernels and gradient rules took, the shortest of each.

    The file itself runs the forward pass, so it has to be listened to while it is loaded.
    """

    def __init__(self) -> None:
        self._computed: dict[tuple[int, str], float] = {}
        self._pulled: dict[int, float] = {}

    def __call__(self, event: object) -> None:
        if isinstance(event, watch.Computed):
            self._computed[event.key, event.op.type] = event.seconds
        elif isinstance(event, watch.Pulled):
            key = event.node.key
            self._pulled[key] = min(self._pulled.get(key, math.inf), event.seconds)

    def seconds(self, node: GradNode, part: str) -> float | None:
        """Seconds that a recorded call took, or its gradient; None where nothing was told of it."""
        return self._pulled.get(node.key) if part == BACKWARD else self._computed.get((node.key, node.op.type))


def norm(value: Any) -> float:
    """The Euclidean norm of an array of any type."""
    with np.errstate(all="ignore"):
        return float(np.sqrt(np.square(np.abs(magnitudes.plain(value).astype(np.complex128))).sum()))
