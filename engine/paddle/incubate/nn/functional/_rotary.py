"""Positions as rotations (Su et al. 2021)."""

from __future__ import annotations

from typing import Any

from gradtool import paddle
from gradtool.engine.core.errors import ShapeError, UsageError


def rotated(x: Any, sin: Any, cos: Any, neighbours: bool) -> Any:
    """*x* ``[…, size]``, whose pairs are turned by angles; a pair are neighbours, or from one half each."""
    if neighbours:
        pairs = paddle.reshape(x, [*x.shape[:-1], x.shape[-1] // 2, 2])
        first, second = paddle.unbind(pairs, -1)
        turned = paddle.reshape(paddle.stack([-second, first], -1), x.shape)
    else:
        first, second = paddle.chunk(x, 2, axis=-1)
        turned = paddle.concat([-second, first], -1)
    return x * cos + turned * sin


def _angles(length: int, size: int, base: float, neighbours: bool) -> Any:
    """``[length, size]``, float32: the angle of each place in each position."""
    frequencies = paddle.pow(paddle.full([size // 2], base, "float32"), -paddle.arange(0, size, 2, "float32") / size)
    angles = paddle.unsqueeze(paddle.arange(0, length, 1, "float32"), 1) * frequencies
    return paddle.repeat_interleave(angles, 2, 1) if neighbours else paddle.concat([angles, angles], 1)


def fused_rotary_position_embedding(
    q: Any,
    k: Any = None,
    v: Any = None,
    sin: Any = None,
    cos: Any = None,
    position_ids: Any = None,
    use_neox_rotary_style: bool = True,
    time_major: bool = False,
    rotary_emb_base: float = 10000.0,
) -> tuple[Any, Any, Any]:
    """*q*, *k* and *v*, turned by their positions; None for those that are not there.

    Args:
        q, k, v: ``[batch, length, heads, size]``; ``[length, batch, heads, size]`` if *time_major*.
        sin, cos: ``[positions, size]`` or ``[1, positions, 1, size]``; of the usual angles when None.
        position_ids: ``[batch, length]``, where each step stands; in order when None.
        use_neox_rotary_style: pairs are neighbours; otherwise the first of a pair is from the first half.
        rotary_emb_base: of the usual angles.

    Raises:
        ShapeError: an odd size (a ValueError).
        UsageError: only one of *sin* and *cos* (a ValueError).

    >>> from gradtool import paddle
    >>> q = paddle.ones([1, 2, 1, 2])
    >>> out, _, _ = paddle.incubate.nn.functional.fused_rotary_position_embedding(q)
    >>> [round(v, 4) for v in out.flatten().tolist()]
    [1.0, 1.0, -0.3012, 1.3818]
    """
    where = "paddle.incubate.nn.functional.fused_rotary_position_embedding"
    if (sin is None) != (cos is None):
        raise UsageError(f"{where}: sin and cos must be given together.")
    batch, length, size = q.shape[1 if time_major else 0], q.shape[0 if time_major else 1], q.shape[-1]
    if size % 2:
        raise ShapeError(f"{where}: the last dimension must be even, but is {size}.")
    if sin is None:
        positions = length if position_ids is None else int(paddle.max(position_ids)) + 1
        angles = _angles(positions, size, rotary_emb_base, use_neox_rotary_style)
        sin, cos = paddle.sin(angles), paddle.cos(angles)

    def fitting(table: Any) -> Any:
        table = paddle.reshape(table, [-1, size])
        if position_ids is not None:
            rows = paddle.reshape(paddle.gather(table, paddle.reshape(position_ids, [-1])), [batch, length, 1, size])
            rows = paddle.transpose(rows, [1, 0, 2, 3]) if time_major else rows
        else:
            rows = paddle.reshape(table[:length], [length, 1, 1, size] if time_major else [1, length, 1, size])
        return paddle.cast(rows, q.dtype)

    sin, cos = fitting(sin), fitting(cos)
    q, k, v = (None if x is None else rotated(x, sin, cos, use_neox_rotary_style) for x in (q, k, v))
    return q, k, v
