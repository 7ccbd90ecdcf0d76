"""Losses of probabilities, the Huber loss and the cosine as layers; ``paddle.nn.functional`` computes them."""

from __future__ import annotations

from typing import Any

from gradtool.engine.core.errors import UsageError

from . import functional as F
from .layer import Layer

REDUCTIONS = ("sum", "mean", "none")


class _Loss(Layer):
    """A loss of an input and a label, each element weighted if there are weights."""

    reductions: tuple[str, ...] = REDUCTIONS

    def __init__(self, reduction: str, **settings: Any) -> None:
        super().__init__()
        if reduction not in self.reductions:
            choice = " or ".join(map(repr, self.reductions))
            raise UsageError(
                f"The value of 'reduction' in {type(self).__name__} should be {choice}, but received {reduction!r}."
            )
        self.settings = {"reduction": reduction, **settings}


class SmoothL1Loss(_Loss):
    """Squares of small differences, the sizes of large ones; arguments as ``functional.smooth_l1_loss``."""

    def __init__(
        self, reduction: str = "mean", delta: float = 1.0, is_huber: bool = True, name: str | None = None
    ) -> None:
        super().__init__(reduction, delta=delta, is_huber=is_huber, name=name)

    def forward(self, input: Any, label: Any) -> Any:
        return F.smooth_l1_loss(input, label, **self.settings)


class BCELoss(_Loss):
    """Binary cross entropy of probabilities and labels."""

    def __init__(self, weight: Any = None, reduction: str = "mean", name: str | None = None) -> None:
        super().__init__(reduction, name=name)
        self.weight = weight

    def forward(self, input: Any, label: Any) -> Any:
        return F.binary_cross_entropy(input, label, self.weight, **self.settings)


class NLLLoss(_Loss):
    """Minus the logarithm of the probability of each label; arguments as ``functional.nll_loss``."""

    def __init__(
        self, weight: Any = None, ignore_index: int = -100, reduction: str = "mean", name: str | None = None
    ) -> None:
        super().__init__(reduction, ignore_index=ignore_index, name=name)
        self.weight = weight

    def forward(self, input: Any, label: Any) -> Any:
        return F.nll_loss(input, label, self.weight, **self.settings)


class KLDivLoss(_Loss):
    """Kullback-Leibler divergence; arguments as ``functional.kl_div``."""

    reductions = (*REDUCTIONS, "batchmean")

    def __init__(self, reduction: str = "mean", log_target: bool = False) -> None:
        super().__init__(reduction, log_target=log_target)

    def forward(self, input: Any, label: Any) -> Any:
        return F.kl_div(input, label, **self.settings)


class CosineSimilarity(Layer):
    """Cosine of the angle between vectors along *axis*."""

    def __init__(self, axis: int = 1, eps: float = 1e-8) -> None:
        super().__init__()
        self._axis, self._eps = axis, eps

    def forward(self, x1: Any, x2: Any) -> Any:
        return F.cosine_similarity(x1, x2, self._axis, self._eps)

    def extra_repr(self) -> str:
        return f"axis={self._axis}, eps={self._eps}"
