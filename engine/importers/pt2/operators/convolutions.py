"""Convolutions."""

from __future__ import annotations

from typing import Any

import gradtool.paddle.nn.functional as F
from gradtool import paddle

from ..errors import Missing, Unsound
from ..node import Pt2Node, cast
from .rows import row
from .shapes import pad_along

CONVOLUTIONS = {1: F.conv1d, 2: F.conv2d, 3: F.conv3d}
TRANSPOSED = {1: F.conv1d_transpose, 2: F.conv2d_transpose, 3: F.conv3d_transpose}

MOST = 1 << 16
"""Elements that a window may reach, and that may be put around a tensor."""


def windows(n: Pt2Node, name: str, rank: int, usual: int, least: int = 1) -> list[int]:
    """A number for each axis."""
    numbers = n.wholes(name, [usual])
    numbers = numbers * rank if len(numbers) == 1 else numbers
    if len(numbers) != rank or any(not least <= v <= MOST for v in numbers):
        raise Unsound(f"{name} is {numbers[:8]}")
    return list(numbers)


def _pads(n: Pt2Node, rank: int) -> Any:
    padding = n("padding", 0)
    if isinstance(padding, str):
        if padding not in ("same", "valid"):
            raise Unsound(f"padding is {padding!r}")
        return padding.upper()
    return windows(n, "padding", rank, 0, 0)


def _pad(x: Any, weight: Any, stride: list[int], dilation: list[int]) -> tuple[Any, list[int]]:
    """*x* with the odd elements of pads behind it, and the even ones: Paddle's own padding takes no dilation."""
    if set(stride) != {1}:
        raise Unsound("as many elements as before, in strides")
    whole = [d * (k - 1) for k, d in zip(weight.shape[2:], dilation, strict=True)]
    if min(whole) < 0 or max(whole) > MOST:
        raise Unsound(f"pads of {whole}")
    for i, more in enumerate(whole):
        x = pad_along(x, 2 + i, 0, more % 2, "constant", 0)
    return x, [more // 2 for more in whole]


@row("aten.conv1d", "aten.conv2d", "aten.conv3d", "aten.convolution", "aten._convolution")
def _convolution(n: Pt2Node) -> Any:
    kind = n.made.kind
    x, weight, bias = cast(n.tensor("input"), kind), cast(n.tensor("weight"), kind), n("bias", None)
    bias = bias if bias is None else cast(bias, kind)
    rank = len(weight.shape) - 2
    if rank not in CONVOLUTIONS or len(x.shape) not in (rank + 1, rank + 2):
        raise Missing(f"windows over {rank} axes")
    single = len(x.shape) == rank + 1
    x = paddle.unsqueeze(x, [0]) if single else x
    stride, dilation = windows(n, "stride", rank, 1), windows(n, "dilation", rank, 1)
    groups = n.whole("groups", 1)
    if n.flag("transposed"):
        y = _back(n, x, weight, bias, rank, stride, dilation, groups)
    else:
        padding = _pads(n, rank)
        if padding == "SAME":
            x, padding = _pad(x, weight, stride, dilation)
        y = CONVOLUTIONS[rank](x, weight, bias, stride=stride, padding=padding, dilation=dilation, groups=groups)
    return paddle.squeeze(y, [0]) if single else y


@row("aten.conv_transpose1d", "aten.conv_transpose2d", "aten.conv_transpose3d")
def _transpose(n: Pt2Node) -> Any:
    x, weight = cast(n.tensor("input"), n.made.kind), cast(n.tensor("weight"), n.made.kind)
    rank = len(weight.shape) - 2
    if rank not in TRANSPOSED or len(x.shape) not in (rank + 1, rank + 2):
        raise Missing(f"windows over {rank} axes")
    single = len(x.shape) == rank + 1
    x = paddle.unsqueeze(x, [0]) if single else x
    stride, dilation = windows(n, "stride", rank, 1), windows(n, "dilation", rank, 1)
    y = _back(n, x, weight, n("bias", None), rank, stride, dilation, n.whole("groups", 1))
    return paddle.squeeze(y, [0]) if single else y


def _back(
    n: Pt2Node, x: Any, weight: Any, bias: Any, rank: int, stride: list[int], dilation: list[int], groups: int
) -> Any:
    padding, more = windows(n, "padding", rank, 0, 0), windows(n, "output_padding", rank, 0, 0)
    return TRANSPOSED[rank](
        x, weight, bias, stride=stride, padding=padding, output_padding=more, dilation=dilation, groups=groups
    )


@row("aten.im2col")
def _columns(n: Pt2Node) -> Any:
    sizes, strides, dilations = (windows(n, name, 2, 1) for name in ("kernel_size", "stride", "dilation"))
    return F.unfold(n.tensor("self"), sizes, strides, windows(n, "padding", 2, 0, 0), dilations)


@row("aten.col2im")
def _fold_columns(n: Pt2Node) -> Any:
    sizes, strides, dilations = (windows(n, name, 2, 1) for name in ("kernel_size", "stride", "dilation"))
    size = windows(n, "output_size", 2, 1)
    return F.fold(n.tensor("self"), size, sizes, strides, windows(n, "padding", 2, 0, 0), dilations)
