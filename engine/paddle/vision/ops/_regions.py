"""Regions of images in one size."""

from __future__ import annotations

from typing import Any

from gradtool.paddle._arguments import tensor
from gradtool.paddle._dispatch import apply
from gradtool.paddle._images import FLOATS, numbers
from gradtool.paddle.nn.layer import Layer

from ._refusals import expect


def roi_align(
    x: Any,
    boxes: Any,
    boxes_num: Any,
    output_size: Any,
    spatial_scale: float = 1.0,
    sampling_ratio: int = -1,
    aligned: bool = True,
    name: str | None = None,
) -> Any:
    """Regions of images in one size: the mean of points interpolated between pixels (He et al. 2017).

    Args:
        x: images, ``[batch, channels, height, width]``.
        boxes: regions, ``x1 y1 x2 y2``, those of the first image first.
        boxes_num: how many regions each image has, whole numbers.
        output_size: rows and columns of each region, or one number for both.
        spatial_scale: what boxes are multiplied with to be places in *x*.
        sampling_ratio: points for each row and column of the result; -1 for as many as there are pixels.
        aligned: count pixels by their centres.

    Returns:
        ``[regions, channels, rows, columns]``. The gradient goes to *x*.

    >>> from gradtool import paddle
    >>> paddle.disable_static()
    >>> x = paddle.arange(16.0).reshape([1, 1, 4, 4])
    >>> boxes = paddle.to_tensor([[0.0, 0.0, 4.0, 4.0]])
    >>> paddle.vision.ops.roi_align(x, boxes, paddle.to_tensor([1], dtype="int32"), 2).numpy().tolist()
    [[[[2.5, 4.5], [10.5, 12.5]]]]

    Raises:
        ShapeError: *x* does not hold images, or *boxes* no boxes (a ValueError).
    """
    tensor(x, "x", "roi_align", FLOATS)
    rows, columns = numbers(output_size, 2, "output_size")
    attrs = {
        "pooled_height": rows,
        "pooled_width": columns,
        "spatial_scale": spatial_scale,
        "sampling_ratio": sampling_ratio,
        "aligned": aligned,
    }
    return apply("roi_align", x, boxes, boxes_num, attrs=attrs, name=name)


def roi_pool(
    x: Any, boxes: Any, boxes_num: Any, output_size: Any, spatial_scale: float = 1.0, name: str | None = None
) -> Any:
    """Regions of images in one size: the maximum of the pixels of each bin (Girshick 2015).

    The arguments are those of :func:`roi_align`. The gradient goes to where the maxima stand in *x*.
    """
    tensor(x, "x", "roi_pool", FLOATS)
    rows, columns = numbers(output_size, 2, "output_size")
    attrs = {"pooled_height": rows, "pooled_width": columns, "spatial_scale": spatial_scale}
    return apply("roi_pool", x, boxes, boxes_num, attrs=attrs, name=name)[0]


def psroi_pool(
    x: Any, boxes: Any, boxes_num: Any, output_size: Any, spatial_scale: float = 1.0, name: str | None = None
) -> Any:
    """Regions of images in one size: each bin is the mean of channels that are its own (Dai et al. 2016).

    Args:
        x: images with ``channels · rows · columns`` channels; the others are those of :func:`roi_align`.

    Raises:
        ShapeError: the channels are not so many for each bin (a ValueError).
    """
    tensor(x, "x", "psroi_pool", FLOATS)
    rows, columns = numbers(output_size, 2, "output_size")
    expect(len(x.shape) == 4, "Input features with shape should be (N, C, H, W)")
    expect(rows * columns > 0, "output_size should be positive")
    attrs = {
        "output_channels": int(x.shape[1] // (rows * columns)),
        "pooled_height": rows,
        "pooled_width": columns,
        "spatial_scale": spatial_scale,
    }
    return apply("psroi_pool", x, boxes, boxes_num, attrs=attrs, name=name)


class _Regions(Layer):
    """Base of the layers of regions."""

    def __init__(self, output_size: Any, spatial_scale: float = 1.0) -> None:
        super().__init__()
        self._output_size, self._spatial_scale = output_size, spatial_scale

    def extra_repr(self) -> str:
        return f"output_size={self._output_size}, spatial_scale={self._spatial_scale}"


class RoIAlign(_Regions):
    """:func:`roi_align` as a layer."""

    def forward(self, x: Any, boxes: Any, boxes_num: Any, aligned: bool = True) -> Any:
        return roi_align(x, boxes, boxes_num, self._output_size, self._spatial_scale, aligned=aligned)


class RoIPool(_Regions):
    """:func:`roi_pool` as a layer."""

    def forward(self, x: Any, boxes: Any, boxes_num: Any) -> Any:
        return roi_pool(x, boxes, boxes_num, self._output_size, self._spatial_scale)


class PSRoIPool(_Regions):
    """:func:`psroi_pool` as a layer."""

    def __init__(self, output_size: Any, spatial_scale: float = 1.0) -> None:
        super().__init__(output_size, spatial_scale)
        self.output_size, self.spatial_scale = output_size, spatial_scale

    def forward(self, x: Any, boxes: Any, boxes_num: Any) -> Any:
        return psroi_pool(x, boxes, boxes_num, self.output_size, self.spatial_scale)
