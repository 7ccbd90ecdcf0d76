"""Convolutions, and what is computed window by window."""

from __future__ import annotations

from typing import Any

import gradtool.paddle.nn.functional as F
from gradtool import paddle

from ..errors import Lacking, Malformed
from ..node import OnnxNode
from .rows import row
from .shapes import pad

CONVOLUTIONS = {1: F.conv1d, 2: F.conv2d, 3: F.conv3d}
TRANSPOSED = {1: F.conv1d_transpose, 2: F.conv2d_transpose, 3: F.conv3d_transpose}

MOST = 1 << 16
"""Elements that a window may reach, and that may be put around a tensor."""


class OnnxWindows:
    """Geometry of windows over the last axes of a tensor.

    Attributes:
        sizes, strides, dilations: of each axis.
        before, after: elements that are put to its ends.
    """

    def __init__(self, n: OnnxNode, x: Any, sizes: list[int]) -> None:
        rank = len(x.shape) - 2
        if rank not in CONVOLUTIONS:
            raise Lacking(f"windows over {rank} axes")
        self.rank = rank
        self.sizes = sizes
        self.strides = n.wholes("strides", [1] * rank)
        self.dilations = n.wholes("dilations", [1] * rank)
        pads = n.wholes("pads", [0] * 2 * rank)
        if {len(sizes), len(self.strides), len(self.dilations), len(pads) / 2} != {rank}:
            raise Malformed(f"its windows do not fit {rank} axes")
        if min(*self.strides, *self.dilations, *sizes) < 1:
            raise Malformed("it has windows, strides or dilations below 1")
        if max(map(abs, (*self.strides, *self.dilations, *sizes, *pads))) > MOST:
            raise Malformed(f"it has windows, strides, dilations or pads above {MOST}")
        self.before, self.after = pads[:rank], pads[rank:]
        auto = n.text("auto_pad", "NOTSET")
        if auto in ("SAME_UPPER", "SAME_LOWER"):
            self._pad_to_same(x.shape[2:], auto == "SAME_LOWER")
        elif auto not in ("NOTSET", "VALID", ""):
            raise Malformed(f"auto_pad is {auto!r}")

    @property
    def reach(self) -> list[int]:
        """From the first to the last element of a window."""
        return [(k - 1) * d + 1 for k, d in zip(self.sizes, self.dilations, strict=True)]

    @property
    def is_even(self) -> bool:
        """True if as much is put before as behind."""
        return bool(self.before == self.after)

    def _pad_to_same(self, shape: Any, lower: bool) -> None:
        for i, size in enumerate(shape):
            if size < 0 and self.strides[i] != 1:
                raise Lacking("pads that follow from a size that is not known")
            size = max(size, 1)
            whole = max((-(-size // self.strides[i]) - 1) * self.strides[i] + self.reach[i] - size, 0)
            self.before[i] = whole - whole // 2 if lower else whole // 2
            self.after[i] = whole - self.before[i]

    def padded(self, x: Any, value: float = 0.0) -> Any:
        """*x* with what lies around it."""
        for i, (before, after) in enumerate(zip(self.before, self.after, strict=True)):
            x = pad(x, 2 + i, before, after, value=value)
        return x


@row("Conv")
def _convolution(n: OnnxNode) -> Any:
    return convolution(n, n[0], n[1], n.get(2))


def convolution(n: OnnxNode, x: Any, weight: Any, bias: Any) -> Any:
    """The convolution that a node describes, of tensors that are its own or stand for them."""
    w = OnnxWindows(n, x, n.wholes("kernel_shape", list(weight.shape[2:])))
    padding = w.before
    if not w.is_even:
        x, padding = w.padded(x), [0] * w.rank
    groups = n.whole("group", 1)
    return CONVOLUTIONS[w.rank](x, weight, bias, stride=w.strides, padding=padding, dilation=w.dilations, groups=groups)


@row("ConvTranspose")
def _transpose(n: OnnxNode) -> Any:
    x, weight, bias = n[0], n[1], n.get(2)
    sizes = n.wholes("kernel_shape", list(weight.shape[2:]))
    rank = len(x.shape) - 2
    if rank not in TRANSPOSED:
        raise Lacking(f"windows over {rank} axes")
    strides, dilations = n.wholes("strides", [1] * rank), n.wholes("dilations", [1] * rank)
    more = n.wholes("output_padding", [0] * rank)
    pads = n.wholes("pads", [0] * 2 * rank)
    before, after = pads[:rank], pads[rank:]
    reach = [(k - 1) * d + 1 for k, d in zip(sizes, dilations, strict=True)]
    wanted = n.wholes("output_shape")
    auto = n.text("auto_pad", "NOTSET")
    if wanted is None and auto.startswith("SAME"):
        wanted = [d * s for d, s in zip(x.shape[2:], strides, strict=True)]
    if wanted is not None:
        if any(d < 0 for d in x.shape[2:]):
            raise Lacking("pads that follow from a size that is not known")
        for i in range(rank):
            whole = strides[i] * (x.shape[2 + i] - 1) + more[i] + reach[i] - wanted[-rank:][i]
            half = max(whole, 0) // 2
            before[i], after[i] = half, whole - half
            if auto != "SAME_UPPER" and whole > 0:
                before[i], after[i] = after[i], before[i]
    groups = n.whole("group", 1)
    function = TRANSPOSED[rank]
    if (
        before == after
        and min(before) >= 0
        and all(m < max(s, d) for m, s, d in zip(more, strides, dilations, strict=True))
    ):
        return function(
            x, weight, bias, stride=strides, padding=before, output_padding=more, dilation=dilations, groups=groups
        )
    y = function(x, weight, stride=strides, padding=[0] * rank, dilation=dilations, groups=groups)
    for i in range(rank):
        y = pad(y, 2 + i, -before[i], more[i] - after[i])
    return y if bias is None else y + paddle.reshape(bias, [1, -1] + [1] * rank)


@row("DeformConv")
def _deformable(n: OnnxNode) -> Any:
    from gradtool.paddle.vision.ops import deform_conv2d

    x, weight, offset = n[0], n[1], n[2]
    w = OnnxWindows(n, x, n.wholes("kernel_shape", list(weight.shape[2:])))
    if w.rank != 2:
        raise Lacking(f"deformable convolutions over {w.rank} axes")
    padding = w.before
    if not w.is_even:
        x, padding = w.padded(x), [0, 0]
    return deform_conv2d(
        x,
        offset,
        weight,
        bias=n.get(3),
        stride=w.strides,
        padding=padding,
        dilation=w.dilations,
        deformable_groups=n.whole("offset_group", 1),
        groups=n.whole("group", 1),
        mask=n.get(4),
    )


@row("Col2Im")
def _fold(n: OnnxNode) -> Any:
    x, size, block = n[0], n.ints(1), n.ints(2)
    if len(size) != 2:
        raise Lacking(f"columns of {len(size)} axes")
    pads = n.wholes("pads", [0] * 4)
    return F.fold(
        x, size, block, strides=n.wholes("strides", [1, 1]), paddings=pads, dilations=n.wholes("dilations", [1, 1])
    )
