"""Losses as layers; ``paddle.nn.functional`` computes them."""

from __future__ import annotations

from typing import Any

from gradtool.engine.core.errors import UsageError

from . import functional as F
from ._second_names_of_parts import also_by
from .layer import Layer


def _check_reduction(reduction: str, where: str) -> None:
    if reduction not in ("sum", "mean", "none"):
        raise UsageError(
            f"The value of 'reduction' in {where} should be 'sum', 'mean' or 'none', but received {reduction!r}."
        )


class CrossEntropyLoss(Layer):
    """Cross entropy of logits and labels; the arguments are those of ``functional.cross_entropy``."""

    def __init__(
        self,
        weight: Any = None,
        ignore_index: int = -100,
        reduction: str = "mean",
        soft_label: bool = False,
        axis: int = -1,
        use_softmax: bool = True,
        label_smoothing: float = 0.0,
        name: str | None = None,
    ) -> None:
        super().__init__()
        self.weight = weight
        self.ignore_index, self.reduction, self.soft_label = ignore_index, reduction, soft_label
        self.axis, self.use_softmax, self.label_smoothing, self.name = axis, use_softmax, label_smoothing, name

    @also_by(target="label")
    def forward(self, input: Any, label: Any) -> Any:
        return F.cross_entropy(
            input,
            label,
            weight=self.weight,
            ignore_index=self.ignore_index,
            reduction=self.reduction,
            soft_label=self.soft_label,
            axis=self.axis,
            use_softmax=self.use_softmax,
            label_smoothing=self.label_smoothing,
            name=self.name,
        )


class MSELoss(Layer):
    """Mean (or sum) of squared differences."""

    def __init__(self, reduction: str = "mean") -> None:
        super().__init__()
        _check_reduction(reduction, "MSELoss")
        self.reduction = reduction

    def forward(self, input: Any, label: Any) -> Any:
        return F.mse_loss(input, label, self.reduction)


class L1Loss(Layer):
    """Mean (or sum) of absolute differences."""

    def __init__(self, reduction: str = "mean", name: str | None = None) -> None:
        super().__init__()
        _check_reduction(reduction, "L1Loss")
        self.reduction = reduction
        self.name = name

    def forward(self, input: Any, label: Any) -> Any:
        return F.l1_loss(input, label, self.reduction, name=self.name)


class BCEWithLogitsLoss(Layer):
    """Binary cross entropy of logits and labels."""

    def __init__(
        self, weight: Any = None, reduction: str = "mean", pos_weight: Any = None, name: str | None = None
    ) -> None:
        super().__init__()
        _check_reduction(reduction, "BCEWithLogitsLoss")
        self.weight = weight
        self.reduction = reduction
        self.pos_weight = pos_weight
        self.name = name

    def forward(self, logit: Any, label: Any) -> Any:
        return F.binary_cross_entropy_with_logits(logit, label, self.weight, self.reduction, self.pos_weight, self.name)
