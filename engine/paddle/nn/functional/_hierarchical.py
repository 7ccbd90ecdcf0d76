"""Losses of very many classes, in trees and in clusters."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

from gradtool import paddle
from gradtool.engine.core.errors import ShapeError, UsageError
from gradtool.engine.core.state import in_static_mode
from gradtool.paddle._arguments import tensor

from ._activation import log_softmax, softplus
from ._linear import linear

_WIDE = ("float32", "float64")
LIMIT = 40.0
"""Scores count up to this size."""


def hsigmoid_loss(
    input: Any,
    label: Any,
    num_classes: int,
    weight: Any,
    bias: Any = None,
    path_table: Any = None,
    path_code: Any = None,
    is_sparse: bool = False,
    name: str | None = None,
) -> Any:
    """Minus the logarithm of the probability of each label as a way down a tree (Morin & Bengio 2005).

    Without a table the tree is binary and complete. A way that is shorter than the longest one adds ``log(2)`` for
    every step that it lacks, as in Paddle.

    Args:
        input: ``[batch, features]``.
        label: ``[batch]`` or ``[batch, 1]``.
        weight: ``[nodes, features]``: one less than classes, unless there is a table.
        bias: ``[nodes, 1]``, or None.
        path_table: the nodes on the way to each label, ``[batch, steps]``, -1 behind its end.
        path_code: which way each of them takes, 0 or 1, in the same form.
        is_sparse: taken for the sake of existing code; gradients are dense.

    Returns:
        ``[batch, 1]``.

    Raises:
        UsageError: fewer than two classes (a ValueError).
    """
    if num_classes < 2:
        raise UsageError(f"Expected num_classes >= 2 (got {num_classes})")
    for what, v in (("input", input), ("weight", weight)):
        tensor(v, what, "hsigmoid_loss", _WIDE)
    tensor(label, "label", "hsigmoid_loss", ("int64",))
    if path_table is None:
        nodes, turns = _complete(label, num_classes)
    else:
        nodes, turns = path_table, path_code
    # What lies behind the end of a way has a score of 0.
    there = paddle.cast(nodes >= 0, input.dtype)
    places = paddle.maximum(nodes, paddle.zeros_like(nodes))
    flat = paddle.flatten(places)
    rows = paddle.reshape(paddle.gather(weight, flat), [-1, nodes.shape[1], weight.shape[1]])
    scores = paddle.squeeze(paddle.matmul(rows, paddle.unsqueeze(input, -1)), [-1])
    if bias is not None:
        scores = scores + paddle.reshape(paddle.gather(bias, flat), [-1, nodes.shape[1]])
    scores = paddle.clip(scores * there, -LIMIT, LIMIT)
    steps = softplus(scores, threshold=2 * LIMIT) - paddle.cast(turns, input.dtype) * there * scores
    return paddle.sum(steps, 1, keepdim=True)


def _complete(label: Any, classes: int) -> tuple[Any, Any]:
    """The nodes on the way to each label in a complete binary tree, -1 behind its end, and the turns taken there.

    The tree is numbered like a heap, from 1 at the root, with the classes as its leaves.
    """
    leaf = paddle.reshape(label, [-1, 1]) + classes
    nodes, turns = [], []
    for step in range((2 * classes - 1).bit_length() - 1):
        below = paddle.floor_divide(leaf, paddle.full_like(leaf, 2**step))
        above = paddle.floor_divide(leaf, paddle.full_like(leaf, 2 ** (step + 1)))
        nodes.append(above - 1)
        turns.append(below - 2 * above)
    return paddle.concat(nodes, 1), paddle.concat(turns, 1)


def adaptive_log_softmax_with_loss(
    input: Any,
    label: Any,
    head_weight: Any,
    tail_weights: Sequence[Sequence[Any]],
    cutoffs: Sequence[int],
    head_bias: Any = None,
    name: str | None = None,
) -> tuple[Any, Any]:
    """Logarithms of the probabilities of labels, of which rare ones stand in clusters (Grave et al. 2017).

    Args:
        input: ``[batch, features]``, or ``[features]`` for one label.
        label: ``[batch]``, or a single one.
        head_weight: ``[features, frequent classes + clusters]``.
        tail_weights: of each cluster two matrices, ``[features, size]`` and ``[size, classes]``.
        cutoffs: where each cluster begins, and the number of classes at the end.
        head_bias: ``[frequent classes + clusters]``, or None.

    Returns:
        The logarithm of each label's probability, and minus their mean.

    Raises:
        UsageError: shapes that do not fit, labels that are no classes (a ValueError).
    """
    tensor(input, "input", "adaptive_log_softmax_with_loss", _WIDE)
    tensor(label, "label", "adaptive_log_softmax_with_loss", ("int32", "int64"))
    if label.ndim > 1:
        raise UsageError("0D or 1D label tensor expected, multi-label not supported")
    if input.ndim != label.ndim + 1:
        raise UsageError(
            f"{label.ndim}D label tensor expects {label.ndim + 1}D input tensors, but found inputs with size "
            f"{list(input.shape)}"
        )
    if label.ndim and input.shape[0] != label.shape[0] and label.shape[0]:
        raise ShapeError("Input and label should have the same size in the batch dimension.")
    whole = label.ndim > 0
    rows = input if whole else paddle.unsqueeze(input, 0)
    classes = paddle.reshape(label, [-1, 1])
    _within(label, cutoffs[-1])
    # Every cluster is asked, and counts where the label is in it.
    head = log_softmax(linear(rows, head_weight, head_bias), 1)
    place = paddle.minimum(classes, paddle.full_like(classes, cutoffs[0] - 1))
    total = paddle.take_along_axis(head, place, 1)
    for i, (low, high) in enumerate(itertools.pairwise(cutoffs)):
        first, second = tail_weights[i]
        shares = log_softmax(linear(linear(rows, first), second), 1)
        inside = paddle.logical_and(classes >= low, classes < high)
        place = paddle.clip(classes - low, 0, high - low - 1)
        node = paddle.full_like(classes, cutoffs[0] + i)
        here = paddle.take_along_axis(head, node, 1) + paddle.take_along_axis(shares, place, 1)
        total = paddle.where(inside, here, total)
    output = paddle.squeeze(total, [1])
    loss = paddle.mean(-output)
    return (output if whole else paddle.squeeze(output, [0])), loss


def _within(label: Any, classes: int) -> None:
    if in_static_mode() or 0 in label.shape:
        return
    low, high = int(paddle.min(label)), int(paddle.max(label))
    if low < 0 or high >= classes:
        raise UsageError(
            f"label values should be in [0, n_classes - 1], but values in range [{low}, {high}] were found. "
        )
