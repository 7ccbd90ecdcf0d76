"""The sum, mean, largest or smallest of the rows of each segment."""

from __future__ import annotations

from typing import Any

from gradtool.engine.core.value import AnyTensor
from gradtool.paddle._arguments import tensor
from gradtool.paddle._dispatch import apply


def _pooled(data: Any, segment_ids: Any, how: str, where: str, name: str | None) -> AnyTensor:
    operands = tensor(data, "data", where), tensor(segment_ids, "segment_ids", where)
    return apply("segment_pool", *operands, attrs={"pooltype": how}, name=name)[0]  # type: ignore[no-any-return]


def segment_sum(data: Any, segment_ids: Any, name: str | None = None) -> AnyTensor:
    """The sum of the rows of each segment, zeros for a segment without any.

    Args:
        data: ``[rows, …]``.
        segment_ids: ``[rows]``, int32 or int64, which must not fall from one row to the next. The result has as many
            rows as the last of them says.

    Raises:
        ShapeError: another number of ids than of rows (a ValueError).
        LabelError: ids that fall, or are negative (a ValueError and an IndexError).
        DtypeError: ids of another type (a ValueError).

    >>> from gradtool import paddle
    >>> x = paddle.to_tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    >>> paddle.geometric.segment_sum(x, paddle.to_tensor([0, 0, 1])).tolist()
    [[4.0, 6.0], [5.0, 6.0]]
    """
    return _pooled(data, segment_ids, "SUM", "paddle.geometric.segment_sum", name)


def segment_mean(data: Any, segment_ids: Any, name: str | None = None) -> AnyTensor:
    """The mean of the rows of each segment; arguments and errors are those of :func:`segment_sum`."""
    return _pooled(data, segment_ids, "MEAN", "paddle.geometric.segment_mean", name)


def segment_max(data: Any, segment_ids: Any, name: str | None = None) -> AnyTensor:
    """The largest of the rows of each segment; arguments and errors are those of :func:`segment_sum`."""
    return _pooled(data, segment_ids, "MAX", "paddle.geometric.segment_max", name)


def segment_min(data: Any, segment_ids: Any, name: str | None = None) -> AnyTensor:
    """The smallest of the rows of each segment; arguments and errors are those of :func:`segment_sum`."""
    return _pooled(data, segment_ids, "MIN", "paddle.geometric.segment_min", name)
