"""Losses of sequences, of densities and of margins as layers; ``paddle.nn.functional`` computes them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gradtool.engine.core.errors import UsageError

from . import functional as F
from ._table import table_layer
from .layer import Layer

GaussianNLLLoss = table_layer(
    __name__, "GaussianNLLLoss", "gaussian_nll_loss", shows=(), full=False, epsilon=1e-6, reduction="mean"
)
MultiLabelMarginLoss = table_layer(
    __name__, "MultiLabelMarginLoss", "multi_label_margin_loss", shows=(), reduction="mean"
)
MultiMarginLoss = table_layer(
    __name__, "MultiMarginLoss", "multi_margin_loss", shows=(), p=1, margin=1.0, weight=None, reduction="mean"
)
PoissonNLLLoss = table_layer(
    __name__,
    "PoissonNLLLoss",
    "poisson_nll_loss",
    shows=(),
    prefix="_",
    log_input=True,
    full=False,
    epsilon=1e-8,
    reduction="mean",
)
RNNTLoss = table_layer(__name__, "RNNTLoss", "rnnt_loss", shows=(), blank=0, fastemit_lambda=0.001, reduction="mean")


class CTCLoss(Layer):
    """The loss of sequences that may be aligned in many ways; see ``functional.ctc_loss``."""

    def __init__(self, blank: int = 0, reduction: str = "mean", zero_infinity: bool = False) -> None:
        super().__init__()
        self.blank, self.reduction, self.zero_infinity = blank, reduction, zero_infinity

    def forward(
        self, log_probs: Any, labels: Any, input_lengths: Any, label_lengths: Any, norm_by_times: bool = False
    ) -> Any:
        lengths = input_lengths, label_lengths
        settings = self.blank, self.reduction, norm_by_times, self.zero_infinity
        return F.ctc_loss(log_probs, labels, *lengths, *settings)


class TripletMarginWithDistanceLoss(Layer):
    """The loss of triples under a distance of one's own; see ``functional.triplet_margin_with_distance_loss``."""

    def __init__(
        self,
        distance_function: Callable[[Any, Any], Any] | None = None,
        margin: float = 1.0,
        swap: bool = False,
        reduction: str = "mean",
        name: str | None = None,
    ) -> None:
        super().__init__()
        if reduction not in ("sum", "mean", "none"):
            raise UsageError(
                "The value of 'reduction' in TripletMarginWithDistanceLoss should be 'sum', 'mean' or 'none', but "
                f"received {reduction}, which is not allowed."
            )
        self.distance_function, self.margin, self.swap = distance_function, margin, swap
        self.reduction, self.name = reduction, name

    def forward(self, input: Any, positive: Any, negative: Any) -> Any:
        settings = self.distance_function, self.margin, self.swap, self.reduction, self.name
        return F.triplet_margin_with_distance_loss(input, positive, negative, *settings)
