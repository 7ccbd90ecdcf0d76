"""Gradients that are used while they are still multiplied by the scale of the loss."""

from __future__ import annotations

from dataclasses import field
from typing import Any

from ...core import source, watch
from ...core.identity import identity
from ...core.listeners import handles
from ...core.records import dataclass
from ...core.source import Location
from ...eager.tensor import Leaf, Tensor


@dataclass
class StillScaled:
    """A line that uses gradients before they are divided by the scale of the loss.

    Attributes:
        by: what uses them: a function that clips, or the class of an optimizer.
        clips: whether it is the former.
        scale: what they are multiplied by, when it first happens.
        tensors: those whose gradients are.
        times: how often it happens.
        loc: the line.
    """

    by: str
    clips: bool
    scale: float
    tensors: tuple[Tensor, ...]
    loc: Location
    times: int = 0


@dataclass
class Scalings:
    """Hears which gradients come of a scaled loss, and what is done to them before they are unscaled.

    Attributes:
        found: by line.
    """

    found: dict[Location, StillScaled] = field(default_factory=dict)
    _losses: dict[int, watch.Scaled] = field(default_factory=dict)
    """By the scaled loss; what is told holds it, so that no other takes its number."""
    _scaled: dict[Leaf, float] = field(default_factory=dict)

    @handles(watch.Scaled, watch.Added, watch.Unscaled, watch.Cleared, watch.Limited, watch.Updating)
    def __call__(self, event: Any) -> None:
        """Hear of an event; nothing is spared."""
        if isinstance(event, watch.Scaled):
            if event.scale != 1:
                self._losses[identity(event.scaled)] = event
        elif isinstance(event, watch.Added):
            loss = self._losses.get(identity(event.root))
            if loss is not None:
                self._scaled[event.leaf] = loss.scale
        elif isinstance(event, watch.Unscaled):
            self._losses.clear()
            for tensor in event.tensors:
                self._scaled.pop(tensor.leaf, None)
        elif isinstance(event, watch.Cleared):
            self._scaled.pop(event.tensor.leaf, None)
        elif isinstance(event, watch.Limited):
            self._note_use(event.by, True, event.tensors)
        elif isinstance(event, watch.Updating):
            self._note_use(event.by, False, event.tensors)

    def _note_use(self, by: str, clips: bool, tensors: tuple[Tensor, ...]) -> None:
        scaled = tuple(t for t in tensors if t.leaf in self._scaled) if self._scaled else ()
        if scaled:
            loc = source.here()
            scale = self._scaled[scaled[0].leaf]
            self.found.setdefault(loc, StillScaled(by, clips, scale, scaled, loc)).times += 1
