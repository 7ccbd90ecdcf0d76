"""Gradients that are not finite because of a loss scale, and updates that are left out for that."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..core import watch
from ..view.graph import BACKWARD
from .birth import Birth

RANGE = "the result is beyond the range of float16"
"""How the cause of an overflow begins that a smaller scale would prevent."""


class Scales:
    """Sets aside what a scaler deals with: overflows of a pass whose loss was scaled, if the update is left out.

    A dynamic scale begins too large and is tried again from time to time, so some updates are left out in a training
    that is right. Where no update is left, nothing is trained, and it is a finding.

    Attributes:
        victims: of the overflow that is a finding, the names of leaves whose gradient was bad.
    """

    def __init__(self) -> None:
        self.victims: dict[str, None] = {}
        self._scale: float | None = None
        self._waiting: tuple[list[Birth], dict[str, None], float] | None = None
        self._left_out: list[tuple[list[Birth], dict[str, None], float]] = []
        self._updates = 0

    def hear(self, event: Any) -> None:
        """Note that a loss is scaled, or that gradients are unscaled."""
        if isinstance(event, watch.Scaled):
            self._scale = event.scale
        elif isinstance(event, watch.Unscaled) and event.finite:
            self._updates += 1
        elif isinstance(event, watch.Unscaled) and self._waiting is not None:
            self._left_out.append(self._waiting)
            self._waiting = None

    def takes(self, births: Sequence[Birth], victims: dict[str, None], loss_is_bad: bool) -> bool:
        """Return whether what was born in the pass that is over is set aside until its gradients are unscaled."""
        scale, self._scale = self._scale, None
        if scale is None or loss_is_bad or not births or self._waiting is not None:
            return False
        if not all(b.part == BACKWARD and b.cause.startswith(RANGE) for b in births):
            return False
        self._waiting = list(births), dict(victims), scale
        return True

    def settle(self, births: list[Birth]) -> tuple[list[Birth], list[Birth]]:
        """The findings, and what a scaler has dealt with."""
        if births:
            return births, []
        if self._waiting is not None:
            return self._explain(self._waiting, "nobody looked whether the gradients are finite")
        if not self._left_out:
            return [], []
        if not self._updates:
            often = f"all {len(self._left_out)} updates were skipped"
            return self._explain(self._left_out[0], often if len(self._left_out) > 1 else "the update was skipped")
        told = []
        for own, _, scale in self._left_out:
            own[0].scale = scale
            told.append(own[0])
        return [], told

    def _explain(self, kept: tuple[list[Birth], dict[str, None], float], why: str) -> tuple[list[Birth], list[Birth]]:
        births, self.victims, scale = kept
        for birth in births:
            birth.cause = f"{birth.cause}; the loss was scaled by {scale:g}, and {why}"
            birth.advice = (
                "begin with a smaller init_loss_scaling, or let the GradScaler run for more steps: its scale shrinks "
                "after each of them"
            )
        return births, []
