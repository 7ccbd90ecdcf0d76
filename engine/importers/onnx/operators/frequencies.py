"""Fourier transforms, as products with waves."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtool import paddle

from ..errors import Lacking, Malformed
from ..node import OnnxNode
from ..tensors import kind_of
from .rows import row


def transform(x: Any, length: int, inverse: bool, onesided: bool) -> Any:
    """The transform of *x* along its axis before the last, which holds real parts, or real and imaginary ones."""
    size = x.shape[-2]
    if length < size:
        x = paddle.slice(x, [len(x.shape) - 2], [0], [length])
        size = length
    count = length // 2 + 1 if onesided else length
    angles = (2 if inverse else -2) * np.pi * np.outer(np.arange(count), np.arange(size)) / length
    factor = 1 / length if inverse else 1.0
    kind = kind_of(x)
    cosines, sines = (paddle.assign((f(angles) * factor).astype(kind)) for f in (np.cos, np.sin))
    parts = paddle.split(x, x.shape[-1], axis=-1) if x.shape[-1] > 1 else [x]
    real = paddle.matmul(cosines, parts[0])
    imaginary = paddle.matmul(sines, parts[0])
    if len(parts) > 1:
        real, imaginary = real - paddle.matmul(sines, parts[1]), imaginary + paddle.matmul(cosines, parts[1])
    return paddle.concat([real, imaginary], axis=-1)


@row("DFT")
def _transform(n: OnnxNode) -> Any:
    x = n[0]
    rank = len(x.shape)
    axis = (n.ints(2, "an axis")[0] if n.has(2) else -2) if n.opset >= 20 else n.whole("axis", 1)
    axis %= rank
    if axis == rank - 1 or x.shape[axis] < 1 or x.shape[-1] not in (1, 2):
        raise Lacking("a transform along an axis of a size that is not known")
    length = n.ints(1, "a length")[0] if n.has(1) else x.shape[axis]
    onesided, inverse = bool(n.whole("onesided", 0)), bool(n.whole("inverse", 0))
    if not 0 < length < 1 << 16:
        raise Malformed(f"its length is {length}")
    if onesided and inverse:
        raise Lacking("an inverse transform of one side")
    order = [i for i in range(rank) if i not in (axis, rank - 1)] + [axis, rank - 1]
    back = [order.index(i) for i in range(rank)]
    return paddle.transpose(transform(paddle.transpose(x, order), length, inverse, onesided), back)


@row("STFT")
def _short_time(n: OnnxNode) -> Any:
    x, step = n[0], n.ints(1, "a step")[0]
    if len(x.shape) == 2:
        x = paddle.unsqueeze(x, [2])
    size = x.shape[1]
    length = n.ints(3, "a length")[0] if n.has(3) else (n[2].shape[0] if n.has(2) else size)
    if size < 1 or not 0 < length <= size or step < 1:
        raise Lacking("a signal of a length that is not known")
    places = np.arange(0, size - length + 1, step)[:, None] + np.arange(length)[None, :]
    frames = paddle.gather(x, paddle.assign(places.reshape(-1).astype("int64")), axis=1)
    frames = paddle.reshape(frames, [x.shape[0], len(places), length, x.shape[2]])
    if n.has(2):
        frames = frames * paddle.reshape(n[2], [1, 1, length, 1])
    return transform(frames, length, False, bool(n.whole("onesided", 1)))
