"""Convolutions over two and three dimensions, transposed ones, and their gradients."""

from __future__ import annotations

from typing import Any

from ....ir.variable import Variable
from ....ops.library.convolve import Geometry
from ..writing import GraphWriter, MissingRow, OnnxCall
from .rows import writes_images


def _windows(c: OnnxCall, image: tuple[int, ...], transposed: bool = False) -> dict[str, Any]:
    """Return the attributes of windows, as nodes say it.

    Args:
        image: the sizes of what goes in.
        transposed: the operator is a transposed convolution.
    """
    geometry = Geometry.of(c.attrs, transposed=transposed)  # type: ignore[no-untyped-call]
    window = c.var("Filter").shape[2:]
    if geometry.padding_algorithm == "SAME" and min(image) < 0:
        raise MissingRow("with the padding SAME, of images of any size")
    sizes = (None, image) if transposed else (image, None)
    pads, dilations = geometry.settled(c.op.type, window, *sizes)
    return {
        "strides": list(geometry.strides),
        "pads": [*(before for before, _ in pads), *(after for _, after in pads)],
        "dilations": list(dilations),
        "group": int(geometry.groups or 1),
    }


def _rest(how: dict[str, Any], window: tuple[int, ...], few: tuple[int, ...], many: tuple[int, ...]) -> list[int]:
    """The number of rows and columns of the larger image that no window reaches."""
    rank, rest = len(window), []
    for i in range(rank):
        reach = (window[i] - 1) * how["dilations"][i] + 1
        reached = (few[i] - 1) * how["strides"][i] + reach - how["pads"][i] - how["pads"][rank + i]
        rest.append(many[i] - reached)
    if min(rest) < 0:
        raise MissingRow("of a window that is larger than its image")
    return rest


@writes_images("conv2d", "depthwise_conv2d", "conv3d")
def _convolution(c: OnnxCall) -> Any:
    c.only("Bias", "ResidualData")
    return c.w.node("Conv", c["Input"], c["Filter"], **_windows(c, c.var("Input").shape[2:]))


@writes_images("conv2d_transpose", "depthwise_conv2d_transpose", "conv3d_transpose")
def _transpose(c: OnnxCall) -> Any:
    c.only("Bias")
    x, out, window = c.var("Input"), c.result("Output"), c.var("Filter").shape[2:]
    how = _windows(c, x.shape[2:], transposed=True)
    more = list(c.attrs["output_padding"]) or [0] * len(window)
    if c.attrs["output_size"]:
        if out is None or min(*x.shape[2:], *out.shape[2:]) < 0:
            raise MissingRow("with output_size, of images of any size")
        more = _rest(how, window, x.shape[2:], out.shape[2:])
    return {"Output": c.w.node("ConvTranspose", c["Input"], c["Filter"], **how, output_padding=more)}


def _filter_gradient(w: GraphWriter, x: str, xv: Variable, g: str, weight: Variable, how: dict[str, Any]) -> str:
    """The gradient of a filter: what goes in, convolved with what arrives; batch and channels change places."""
    groups, size = how["group"], weight.shape[2:]
    swapped = [1, 0, *range(2, 2 + len(size))]
    if groups > 1:
        _, channels, *space = xv.shape
        if min(channels, *space) < 0:
            raise MissingRow("in groups, of images of any size")
        x = w.node("Reshape", x, w.constant([-1, groups, channels // groups, *space]))
        x = w.node("Transpose", x, perm=[2, 1, 0, *range(3, 3 + len(size))])
        x = w.node("Reshape", x, w.constant([channels // groups, -1, *space]))
    else:
        x = w.node("Transpose", x, perm=swapped)
    g = w.node("Transpose", g, perm=swapped)
    made = w.node("Conv", x, g, strides=how["dilations"], dilations=how["strides"], pads=how["pads"], group=groups)
    axes = [*range(2, 2 + len(size))]
    cut = w.node("Slice", made, w.constant([0] * len(size)), w.constant(list(size)), w.constant(axes))
    return w.node("Transpose", cut, perm=swapped)


@writes_images("conv2d_grad", "depthwise_conv2d_grad", "conv3d_grad")
def _convolution_back(c: OnnxCall) -> Any:
    c.only("Bias")
    w, x, weight, g = c.w, c.var("Input"), c.var("Filter"), c.var("Output@GRAD")
    how, made = _windows(c, x.shape[2:]), {}
    if c.result("Input@GRAD") is not None:
        if min(*x.shape[2:], *g.shape[2:]) < 0:
            raise MissingRow("of images of any size")
        more = _rest(how, weight.shape[2:], g.shape[2:], x.shape[2:])
        made["Input@GRAD"] = w.node("ConvTranspose", c["Output@GRAD"], c["Filter"], **how, output_padding=more)
    if c.result("Filter@GRAD") is not None:
        made["Filter@GRAD"] = _filter_gradient(w, c["Input"], x, c["Output@GRAD"], weight, how)
    return made


@writes_images("conv2d_transpose_grad", "depthwise_conv2d_transpose_grad", "conv3d_transpose_grad")
def _transpose_gradient(c: OnnxCall) -> Any:
    c.only("Bias")
    w, x, weight, g = c.w, c.var("Input"), c.var("Filter"), c.var("Output@GRAD")
    how, made = _windows(c, x.shape[2:], transposed=True), {}
    if c.result("Input@GRAD") is not None:
        made["Input@GRAD"] = w.node("Conv", c["Output@GRAD"], c["Filter"], **how)
    if c.result("Filter@GRAD") is not None:
        made["Filter@GRAD"] = _filter_gradient(w, c["Output@GRAD"], g, c["Input"], weight, how)
    return made
