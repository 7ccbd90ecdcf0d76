"""The bilinear form of two vectors."""

from __future__ import annotations

from typing import Any

from gradtool import paddle
from gradtool.engine.core.errors import ShapeError
from gradtool.engine.core.spec import UNKNOWN
from gradtool.paddle._arguments import tensor
from gradtool.paddle._images import FLOATS


def bilinear(x1: Any, x2: Any, weight: Any, bias: Any = None, name: str | None = None) -> Any:
    """``x1ᵀ · weight[i] · x2`` of each pair of rows, for every i.

    Args:
        x1, x2: ``[batch, in1]`` and ``[batch, in2]``.
        weight: ``[out, in1, in2]``.
        bias: ``[1, out]``, or None.

    Raises:
        ShapeError: shapes that do not fit (a ValueError).

    >>> from gradtool import paddle
    >>> x = paddle.to_tensor([[1.0, 2.0]])
    >>> paddle.nn.functional.bilinear(x, x, paddle.to_tensor([[[1.0, 0.0], [0.0, 1.0]]])).numpy().tolist()
    [[5.0]]
    """
    for what, v in (("x1", x1), ("x2", x2), ("weight", weight)):
        tensor(v, what, "bilinear", FLOATS)
    if (x1.ndim, x2.ndim, weight.ndim) != (2, 2, 3):
        raise ShapeError(
            f"bilinear: x1 {list(x1.shape)} and x2 {list(x2.shape)} must have 2 dimensions, weight "
            f"{list(weight.shape)} 3."
        )
    for what, v, side in (("x1", x1, weight.shape[1]), ("x2", x2, weight.shape[2])):
        if v.shape[1] != side and UNKNOWN not in (v.shape[1], side):
            raise ShapeError(
                f"bilinear: the second dimension of {what} {list(v.shape)} must be equal to that of weight "
                f"{list(weight.shape)}, {side}."
            )
    out = paddle.einsum("bi,oij,bj->bo", x1, weight, x2)
    return out if bias is None else paddle.add(out, bias)
