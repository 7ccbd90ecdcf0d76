"""``paddle.incubate.layers.nn``: rows in another order, and columns of several matrices."""

from __future__ import annotations

from typing import Any

from gradtool.engine.core.value import AnyTensor
from gradtool.paddle._arguments import tensor
from gradtool.paddle._creation import shape
from gradtool.paddle._dispatch import apply
from gradtool.paddle._gather import gather
from gradtool.paddle._manipulation import reshape
from gradtool.paddle._random import uniform
from gradtool.paddle._search import argsort


def shuffle_batch(x: Any, seed: int | None = None) -> AnyTensor:
    """Return the rows of *x*, which are along its last dimension, in an order that is drawn.

    Args:
        seed: a number for the same order every time; the stream of random numbers if None.
    """
    x = tensor(x, "x", "paddle.incubate.layers.shuffle_batch")
    rows = reshape(x, [-1, x.shape[-1]])
    order = argsort(uniform([shape(rows)[0]], "float32", 0.0, 1.0, seed=seed or 0))
    return reshape(gather(rows, order), x.shape if -1 not in x.shape else shape(x))


def partial_concat(input: Any, start_index: int = 0, length: int = -1) -> AnyTensor:
    """Return *length* columns of each matrix from *start_index* on, next to each other; all that follow where it is -1.

    >>> from gradtool import paddle
    >>> a, b = paddle.to_tensor([[0, 1, 2]]), paddle.to_tensor([[3, 4, 5]])
    >>> paddle.incubate.layers.nn.partial_concat([a, b], 0, 2).tolist()
    [[0, 1, 3, 4]]
    """
    return _of_columns("partial_concat", input, start_index, length)


def partial_sum(input: Any, start_index: int = 0, length: int = -1) -> AnyTensor:
    """Return the sum of those columns of all matrices."""
    return _of_columns("partial_sum", input, start_index, length)


def _of_columns(op_type: str, input: Any, start_index: int, length: int) -> AnyTensor:
    matrices = list(input) if isinstance(input, (list, tuple)) else [input]
    operands = [tensor(x, f"input[{i}]", f"paddle.incubate.layers.{op_type}") for i, x in enumerate(matrices)]
    return apply(op_type, operands, attrs={"start_index": start_index, "length": length})  # type: ignore[no-any-return]
