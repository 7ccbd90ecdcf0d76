"""Losses of probabilities, the Huber loss and the cosine as layers; ``paddle.nn.functional`` computes them."""

from __future__ import annotations

from typing import Any

from gradtool.engine.core.errors import UsageError

from . import functional as F
from ._second_names_of_parts import also_by, second_name
from .layer import Layer

REDUCTIONS = ("sum", "mean", "none")


def _checked(layer: Layer, reduction: str, allowed: tuple[str, ...] = REDUCTIONS) -> str:
    if reduction not in allowed:
        choice = " or ".join(map(repr, allowed))
        raise UsageError(
            f"The value of 'reduction' in {type(layer).__name__} should be {choice}, but received {reduction!r}."
        )
    return reduction


class SmoothL1Loss(Layer):
    """Squares of small differences, the sizes of large ones; arguments as ``functional.smooth_l1_loss``."""

    def __init__(
        self, reduction: str = "mean", delta: float = 1.0, is_huber: bool = True, name: str | None = None
    ) -> None:
        super().__init__()
        self.reduction = _checked(self, reduction)
        self.delta, self.is_huber, self.name = delta, is_huber, name

    @also_by(target="label")
    def forward(self, input: Any, label: Any) -> Any:
        return F.smooth_l1_loss(
            input, label, reduction=self.reduction, delta=self.delta, is_huber=self.is_huber, name=self.name
        )


class BCELoss(Layer):
    """Binary cross entropy of probabilities and labels."""

    def __init__(self, weight: Any = None, reduction: str = "mean", name: str | None = None) -> None:
        super().__init__()
        self.weight, self.reduction, self.name = weight, _checked(self, reduction), name

    def forward(self, input: Any, label: Any) -> Any:
        return F.binary_cross_entropy(input, label, self.weight, self.reduction, self.name)


class NLLLoss(Layer):
    """Minus the logarithm of the probability of each label; arguments as ``functional.nll_loss``."""

    def __init__(
        self, weight: Any = None, ignore_index: int = -100, reduction: str = "mean", name: str | None = None
    ) -> None:
        super().__init__()
        self._weight, self._ignore_index = weight, ignore_index
        self._reduction, self._name = _checked(self, reduction), name

    def forward(self, input: Any, label: Any) -> Any:
        return F.nll_loss(input, label, self._weight, self._ignore_index, self._reduction, self._name)


class KLDivLoss(Layer):
    """Kullback-Leibler divergence; arguments as ``functional.kl_div``."""

    def __init__(self, reduction: str = "mean", log_target: bool = False) -> None:
        super().__init__()
        self.reduction, self.log_target = _checked(self, reduction, (*REDUCTIONS, "batchmean")), log_target

    def forward(self, input: Any, label: Any) -> Any:
        return F.kl_div(input, label, reduction=self.reduction, log_target=self.log_target)


class CosineSimilarity(Layer):
    """Cosine of the angle between vectors along *axis*."""

    @also_by(dim="axis")
    def __init__(self, axis: int = 1, eps: float = 1e-8) -> None:
        super().__init__()
        self._axis, self._eps = axis, eps

    dim = second_name("_axis")

    def forward(self, x1: Any, x2: Any) -> Any:
        return F.cosine_similarity(x1, x2, self._axis, self._eps)

    def extra_repr(self) -> str:
        return f"axis={self._axis}, eps={self._eps}"
