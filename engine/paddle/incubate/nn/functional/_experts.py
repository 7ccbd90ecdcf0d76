"""Mixtures of experts: which tokens go to which expert, and what comes back."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtool import paddle
from gradtool.engine.core.errors import ModeError
from gradtool.engine.eager.tensor import Tensor
from gradtool.paddle.nn import functional as F


def moe_gate_dispatch(
    x: Any, gate_logits: Any, corr_bias: Any, k: int, capacity: int, use_pad: bool, name: str | None = None
) -> tuple[Any, Any, Any, Any, Any]:
    """The tokens, sorted by the experts that the gate chooses for them.

    Each token goes to the *k* experts with the largest shares (the softmax of its logits, plus *corr_bias* while they
    are chosen). An expert takes the first *capacity* tokens; of others the weight is 0 and the place 0.

    Args:
        x: ``[tokens, size]``.
        gate_logits: ``[tokens, experts]``.
        corr_bias: ``[experts]`` or ``[1, experts]``, or None.
        use_pad: every expert has *capacity* rows, 0 where it has fewer tokens; otherwise the rows follow each other.

    Returns:
        The rows for the experts, the weights ``[tokens, k]``, the place of each token's row ``[k, tokens]``, where each
        expert's tokens end when they follow each other ``[experts]``, and the experts ``[tokens, k]``.

    Raises:
        ModeError: in static mode, where the numbers of rows would not be known (an AssertionError).
    """
    if not isinstance(x, Tensor):
        raise ModeError("paddle.incubate.nn.functional.moe_gate_dispatch works in dynamic mode only.")
    shares = F.softmax(gate_logits, axis=-1)
    tokens, experts = shares.shape
    judged = shares if corr_bias is None else shares + paddle.reshape(corr_bias, [1, -1])
    chosen = np.argsort(-judged.numpy(), axis=1, kind="stable")[:, :k]
    # In each expert tokens keep their order.
    flat = chosen.reshape(-1)
    order = np.argsort(flat, kind="stable")
    counts = np.bincount(flat, minlength=experts)
    starts = np.cumsum(counts) - counts
    within = np.empty_like(flat)
    within[order] = np.arange(flat.size) - starts[flat[order]]
    taken = within < capacity
    sizes = np.minimum(counts, capacity)
    first = np.arange(experts) * capacity if use_pad else np.cumsum(sizes) - sizes
    places = np.where(taken, first[flat] + within, 0)
    rows = experts * capacity if use_pad else int(sizes.sum())
    source = np.zeros(rows, np.int64)
    filled = np.zeros([rows, 1], x.numpy().dtype)
    source[places[taken]] = (np.arange(flat.size) // k)[taken]
    filled[places[taken]] = 1
    y = paddle.gather(x, paddle.to_tensor(source))
    if not filled.all():
        y = y * paddle.to_tensor(filled)
    weights = paddle.take_along_axis(shares, paddle.to_tensor(chosen.astype(np.int64)), 1)
    if not taken.all():
        weights = weights * paddle.to_tensor(taken.reshape(tokens, k).astype(weights.numpy().dtype))
    scatter_index = paddle.to_tensor(places.reshape(tokens, k).T.astype(np.int32))
    offsets = paddle.to_tensor(np.cumsum(counts).astype(np.int64))
    return y, weights, scatter_index, offsets, paddle.to_tensor(chosen.astype(np.int32))


def moe_combine(x: Any, combine_weights: Any, scatter_index: Any, name: str | None = None) -> Any:
    """Of each token, the sum of its experts' rows, each times its weight.

    Args:
        x: ``[rows, size]``, what the experts made.
        combine_weights: ``[tokens, k]``.
        scatter_index: ``[k, tokens]``, the row of each token and expert.

    >>> from gradtool import paddle
    >>> rows = paddle.to_tensor([[1.0], [10.0], [100.0]])
    >>> weights, places = paddle.to_tensor([[0.5, 0.5]]), paddle.to_tensor([[0], [2]])
    >>> paddle.incubate.nn.functional.moe_combine(rows, weights, places).tolist()
    [[50.5]]
    """
    k, tokens = scatter_index.shape
    picked = paddle.gather(x, paddle.reshape(paddle.transpose(scatter_index, [1, 0]), [-1]))
    picked = paddle.reshape(picked, [tokens, k, x.shape[-1]])
    return paddle.sum(picked * paddle.unsqueeze(combine_weights, -1), 1)
