"""The first loss of a classifier, and what one that knows nothing has."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...core.identity import identity
from ...core.records import dataclass
from ...core.source import Location
from ...view.graph import FORWARD
from ..events import Begin, End, OpEvent

_LOSSES = ("softmax_with_cross_entropy", "nll_loss")
"""Operators that give a loss of classes; the second one where a logarithm of a softmax is what it reads."""
_MOVING = ("elementwise_add", "reshape2", "transpose2", "cast", "flatten_contiguous_range", "unsqueeze2", "squeeze2")
"""Operators that do not make numbers large by themselves: what made what they read does."""


_SCALING = ("elementwise_mul", "elementwise_div", "scale")
_PRODUCTS = ("matmul", "matmul_v2", "mul")


@dataclass(frozen=True, slots=True)
class FirstLoss:
    """The first loss that was computed of classes.

    Attributes:
        value: the mean over what counts; None where nothing does.
        classes: how many there are.
        largest: the largest size of a logit.
        loc: the line of the loss.
        maker: the operator that makes the logits, and its line; None where none did.
        sizes: the largest sizes of what that operator reads.
    """

    value: float | None
    classes: int
    largest: float
    loc: Location
    maker: tuple[str, Location] | None
    sizes: tuple[float, ...] = ()

    @property
    def usual(self) -> float:
        """Return what one has that gives every class the same probability."""
        return math.log(self.classes)


class FirstLossSeen:
    """Listens to a run until it has computed a loss of classes.

    Attributes:
        found: that loss; None until it was computed.
    """

    def __init__(self) -> None:
        self.found: FirstLoss | None = None
        self._makers: dict[int, OpEvent] = {}
        self._over = False

    def __call__(self, event: OpEvent | Begin | End) -> None:
        """Hear of a step."""
        if self._over or not isinstance(event, OpEvent):
            self._over = self._over or isinstance(event, End)
            if self._over:
                self._makers.clear()  # their arrays with them
            return
        if event.part != FORWARD:
            return
        if event.type in _LOSSES:
            self.found, self._over = self._read(event), True
            self._makers.clear()
            return
        for v in event.outputs:
            if v.array is not None:
                self._makers[identity(v.array)] = event

    def _read(self, event: OpEvent) -> FirstLoss | None:
        told = self._scores(event)
        if told is None or self._are_pairs(told[0]):
            return None
        logits, axis, loss = told
        losses = np.asarray(loss, np.float64)
        counted = losses[losses != 0]  # what is ignored has none
        maker = self._maker(logits)
        return FirstLoss(
            float(counted.mean()) if counted.size and np.isfinite(counted).all() else None,
            int(np.shape(logits)[axis]),
            _largest(logits),
            event.loc,
            None if maker is None else (maker.type, maker.loc),
            () if maker is None else tuple(_largest(v.array) for v in maker.inputs if np.size(v.array)),
        )

    def _scores(self, event: OpEvent) -> tuple[Any, int, Any] | None:
        """Return the logits, the axis of their classes and the loss of each sample; None where they are not known."""
        slots = event.slots()
        if event.type != "nll_loss":
            logits, loss = slots.get("Logits"), slots.get("Loss")
            return None if logits is None or loss is None else (logits, int(event.attrs.get("axis", -1)), loss)
        likelihoods, labels = slots.get("X"), slots.get("Label")
        maker = self._makers.get(identity(likelihoods))
        logits = maker.slots().get("X") if maker is not None and maker.type == "log_softmax" else None
        if logits is None or labels is None or likelihoods is None or np.shape(logits) != np.shape(likelihoods):
            return None
        labels = np.expand_dims(np.asarray(labels), 1)
        counted = labels != event.attrs.get("ignore_index", -100)
        picked = np.take_along_axis(np.asarray(likelihoods), np.where(counted, labels, 0), 1)
        return logits, 1, np.where(counted, -picked, 0)

    def _are_pairs(self, logits: Any) -> bool:
        """Return whether samples are compared with samples.

        As many columns as rows, a product of what was computed twice.

        How sharp such a comparison is to be is chosen; there are no classes.
        """
        if len(np.shape(logits)) != 2 or len(set(np.shape(logits))) != 1:
            return False
        maker = self._makers.get(identity(logits))
        while maker is not None and maker.type in (*_MOVING, *_SCALING):
            wide = (v.array for v in maker.inputs if np.shape(v.array) == np.shape(logits))
            maker = next((self._makers[identity(a)] for a in wide if identity(a) in self._makers), None)
        return (
            maker is not None
            and maker.type in _PRODUCTS
            and all(identity(v.array) in self._makers for v in maker.inputs)
        )

    def _maker(self, array: Any) -> OpEvent | None:
        """The operator that makes numbers, behind those that only move or shift them."""
        maker = self._makers.get(identity(array))
        while maker is not None and maker.type in _MOVING:
            before = next(
                (self._makers.get(identity(v.array)) for v in maker.inputs if identity(v.array) in self._makers), None
            )
            if before is None:
                break
            maker = before
        return maker


def _largest(array: Any) -> float:
    values = np.abs(np.asarray(array, np.float64)) if getattr(array, "dtype", None) is not None else np.zeros(1)
    return float(np.nanmax(values)) if values.size and np.isfinite(values).any() else math.nan
