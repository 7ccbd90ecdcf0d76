"""Losses of very many classes as layers; ``paddle.nn.functional`` computes them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gradtool import paddle
from gradtool.engine.core import state
from gradtool.engine.core.errors import UsageError

from . import functional as F
from .layer import Layer


class HSigmoidLoss(Layer):
    """Minus the logarithm of the probability of each label as a way down a tree; see ``functional.hsigmoid_loss``.

    Args:
        feature_size: size of the inputs.
        num_classes: how many classes there are, or with *is_custom* nodes.
        is_custom: calls bring the ways to their labels.
        is_sparse: taken for the sake of existing code; gradients are dense.

    Raises:
        UsageError: fewer than two classes (a ValueError).
    """

    def __init__(
        self,
        feature_size: int,
        num_classes: int,
        weight_attr: Any = None,
        bias_attr: Any = None,
        is_custom: bool = False,
        is_sparse: bool = False,
        name: str | None = None,
    ) -> None:
        super().__init__(dtype=state.default_dtype())
        if num_classes < 2 and not is_custom:
            raise UsageError("num_classes must not be less than 2 with default tree")
        self._feature_size, self._num_classes, self._name = feature_size, num_classes, name
        self._is_custom, self._is_sparse = is_custom, is_sparse
        self._weight_attr, self._bias_attr = weight_attr, bias_attr
        nodes = num_classes if is_custom else num_classes - 1
        self.weight = self.create_parameter([nodes, feature_size], weight_attr)
        self.bias = self.create_parameter([nodes, 1], bias_attr, is_bias=True)

    def forward(self, input: Any, label: Any, path_table: Any = None, path_code: Any = None) -> Any:
        tree = path_table, path_code, self._is_sparse, self._name
        return F.hsigmoid_loss(input, label, self._num_classes, self.weight, self.bias, *tree)


class AdaptiveLogSoftmaxWithLoss(Layer):
    """Logarithms of the probabilities of labels, of which rare ones stand in clusters (Grave et al. 2017).

    Called with ``[batch, in_features]`` and labels, it returns the logarithm of each label's probability, and minus
    their mean. The matrices of the clusters, ``tail_weights``, are not among its parameters, as in Paddle.

    Args:
        cutoffs: the first class of each cluster, ascending.
        div_value: by what the sizes of the clusters' matrices are divided, cluster by cluster.
        head_bias: whether the frequent classes have a bias.

    Raises:
        UsageError: cutoffs that are not ascending numbers below *n_classes* (a ValueError).
    """

    def __init__(
        self,
        in_features: int,
        n_classes: int,
        cutoffs: Sequence[int],
        weight_attr: Any = None,
        bias_attr: Any = None,
        div_value: float = 4.0,
        head_bias: bool = False,
        name: str | None = None,
    ) -> None:
        super().__init__(dtype=state.default_dtype())
        places = list(cutoffs)
        ascending = all(a < b for a, b in zip([0, *places], [*places, n_classes], strict=True))
        if not ascending or any(int(c) != c for c in places):
            raise UsageError(
                "cutoffs should be a sequence of unique, positive integers sorted in an increasing order, where each "
                f"value is between 1 and n_classes-1, but received {places}"
            )
        self.in_features, self.n_classes, self.div_value = in_features, n_classes, div_value
        self._weight_attr, self._bias_attr = weight_attr, bias_attr
        self.cutoffs, self.is_head_bias = [*places, n_classes], head_bias
        self.shortlist_size, self.n_clusters = self.cutoffs[0], len(places)
        self.head_size = self.shortlist_size + self.n_clusters
        self.head_weight = self.create_parameter([in_features, self.head_size], weight_attr)
        self.head_bias = self.create_parameter([self.head_size], bias_attr, is_bias=True) if head_bias else None
        self.tail_weights = []
        for i in range(self.n_clusters):
            size = int(in_features // div_value ** (i + 1))
            shapes = [in_features, size], [size, self.cutoffs[i + 1] - self.cutoffs[i]]
            self.tail_weights.append([self.create_parameter(shape, weight_attr) for shape in shapes])

    def forward(self, input: Any, label: Any) -> tuple[Any, Any]:
        return F.adaptive_log_softmax_with_loss(  # type: ignore[no-any-return]
            input, label, self.head_weight, self.tail_weights, self.cutoffs, self.head_bias
        )

    def log_prob(self, input: Any) -> Any:
        """The logarithm of the probability of every class, ``[batch, n_classes]``."""
        return self._get_full_log_prob(input, F.linear(input, self.head_weight, self.head_bias))

    def _get_full_log_prob(self, input: Any, head_output: Any) -> Any:
        head = F.log_softmax(head_output, axis=1)
        parts = [head[:, : self.shortlist_size]]
        for i, (first, second) in enumerate(self.tail_weights):
            shares = F.log_softmax(F.linear(F.linear(input, first), second), axis=1)
            parts.append(shares + paddle.unsqueeze(head[:, self.shortlist_size + i], 1))
        return paddle.concat(parts, 1)

    def predict(self, input: Any) -> Any:
        """The most probable class of each row; a frequent one where that is more probable than every cluster."""
        head = F.linear(input, self.head_weight, self.head_bias)
        best = paddle.argmax(head, 1)
        return paddle.where(best < self.shortlist_size, best, paddle.argmax(self.log_prob(input), 1))
