"""``paddle.vision.ops``: regions of images, boxes around what is seen, and convolutions that read where they like."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

import gradtool
from gradtool import _lazy
from gradtool._arguments import tensor
from gradtool._dispatch import apply
from gradtool._images import FLOATS, numbers
from gradtool.engine.core.errors import UsageError
from gradtool.nn import initializer
from gradtool.nn.layer import Layer

__all__ = [
    "DeformConv2D",
    "PSRoIPool",
    "RoIAlign",
    "RoIPool",
    "box_coder",
    "deform_conv2d",
    "distribute_fpn_proposals",
    "generate_proposals",
    "matrix_nms",
    "nms",
    "prior_box",
    "psroi_pool",
    "read_file",
    "roi_align",
    "roi_pool",
    "yolo_box",
    "yolo_loss",
]


class WrongBoxes(UsageError, AssertionError):
    """Arguments about boxes that do not fit together (Paddle raises AssertionError)."""


def _expect(fits: bool, text: str) -> None:
    if not fits:
        raise WrongBoxes(text)


def _list(value: Any) -> list[float]:
    return list(value) if isinstance(value, (list, tuple)) else [value]


# -- regions ---------------------------------------------------------------------------------------------------------


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

    >>> import gradtool as paddle
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
    _expect(len(x.shape) == 4, "Input features with shape should be (N, C, H, W)")
    _expect(rows * columns > 0, "output_size should be positive")
    attrs = {
        "output_channels": int(x.shape[1] // (rows * columns)),
        "pooled_height": rows,
        "pooled_width": columns,
        "spatial_scale": spatial_scale,
    }
    return apply("psroi_pool", x, boxes, boxes_num, attrs=attrs, name=name)


class _Regions(Layer):
    """What layers of regions keep."""

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


# -- convolutions ----------------------------------------------------------------------------------------------------


def deform_conv2d(
    x: Any,
    offset: Any,
    weight: Any,
    bias: Any = None,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    deformable_groups: int = 1,
    groups: int = 1,
    mask: Any = None,
    name: str | None = None,
) -> Any:
    """Convolution that reads each point of its kernel where *offset* moves it, weighted by *mask*.

    Args:
        x: images, ``[batch, channels, height, width]``.
        offset: how far down and how far right each point moves, ``[batch, 2 · deformable_groups · points, rows,
            columns]``.
        weight: ``[out channels, channels / groups, kernel rows, kernel columns]``.
        mask: a weight for each point, ``[batch, deformable_groups · points, rows, columns]`` (version 2).
        stride, padding, dilation: one number, or two.

    Returns:
        ``[batch, out channels, rows, columns]``. All tensors get gradients.

    Raises:
        ShapeError: shapes that do not fit (a ValueError).
    """
    tensor(x, "x", "deform_conv2d", FLOATS)
    attrs = {
        "strides": tuple(numbers(stride, 2, "stride")),
        "paddings": tuple(numbers(padding, 2, "padding")),
        "dilations": tuple(numbers(dilation, 2, "dilation")),
        "deformable_groups": deformable_groups,
        "groups": groups,
    }
    if mask is None:
        out = apply("deformable_conv_v1", x, offset, weight, attrs=attrs, name=name)
    else:
        out = apply("deformable_conv", x, offset, mask, weight, attrs=attrs, name=name)
    return out if bias is None else out + gradtool.reshape(bias, [1, -1, 1, 1])


class DeformConv2D(Layer):
    """:func:`deform_conv2d` as a layer: weight ``[out_channels, in_channels / groups, height, width]``, and a bias.

    Args:
        weight_attr, bias_attr: how they are made; ``bias_attr=False`` for no bias.

    Raises:
        WrongBoxes: ``weight_attr=False`` (an AssertionError).
        UsageError: channels that the groups do not divide (a ValueError).
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        deformable_groups: int = 1,
        groups: int = 1,
        weight_attr: Any = None,
        bias_attr: Any = None,
    ) -> None:
        super().__init__()
        _expect(weight_attr is not False, "weight_attr should not be False in Conv.")
        if groups < 1 or in_channels % groups:
            raise UsageError("in_channels must be divisible by groups.")
        self._weight_attr, self._bias_attr = weight_attr, bias_attr
        self._deformable_groups, self._groups = deformable_groups, groups
        self._in_channels, self._out_channels, self._channel_dim = in_channels, out_channels, 1
        self._stride = [*numbers(stride, 2, "stride")]
        self._dilation = [*numbers(dilation, 2, "dilation")]
        self._kernel_size = [*numbers(kernel_size, 2, "kernel_size")]
        self._padding = [*numbers(padding, 2, "padding")]
        elements = self._kernel_size[0] * self._kernel_size[1] * in_channels
        spread: Any = initializer.Normal(0.0, (2.0 / elements) ** 0.5)
        shape = [out_channels, in_channels // groups, *self._kernel_size]
        self.weight = self.create_parameter(shape, weight_attr, default_initializer=spread)
        self.bias = self.create_parameter([out_channels], bias_attr, is_bias=True)

    def forward(self, x: Any, offset: Any, mask: Any = None) -> Any:
        return deform_conv2d(
            x,
            offset,
            self.weight,
            self.bias,
            self._stride,
            self._padding,
            self._dilation,
            self._deformable_groups,
            self._groups,
            mask,
        )


# -- boxes -----------------------------------------------------------------------------------------------------------


def prior_box(
    input: Any,
    image: Any,
    min_sizes: Any,
    max_sizes: Any = None,
    aspect_ratios: Any = (1.0,),
    variance: Any = (0.1, 0.1, 0.2, 0.2),
    flip: bool = False,
    clip: bool = False,
    steps: Any = (0.0, 0.0),
    offset: float = 0.5,
    min_max_aspect_ratios_order: bool = False,
    name: str | None = None,
) -> Any:
    """Boxes of several sizes and ratios around each element of *input*, as shares of the image's size (SSD).

    Args:
        input: ``[batch, channels, rows, columns]``; *image* the same with the image's size.
        min_sizes, max_sizes: in pixels, one number or several.
        flip: also the inverse of each ratio. *clip*: cut at the border of the image.
        steps: how far elements are apart, width and height; 0 for what fills the image.

    Returns:
        Boxes and variances, both ``[rows, columns, boxes, 4]``. There is no gradient.
    """
    steps = _list(steps)
    _expect(len(steps) == 2, "steps should be (step_w, step_h)")
    largest = [] if max_sizes is None else _list(max_sizes)
    attrs = {
        "min_sizes": tuple(map(float, _list(min_sizes))),
        "max_sizes": tuple(map(float, largest if largest and largest[0] > 0 else [])),
        "aspect_ratios": tuple(map(float, _list(aspect_ratios))),
        "variances": tuple(map(float, _list(variance))),
        "flip": flip,
        "clip": clip,
        "step_w": float(steps[0]),
        "step_h": float(steps[1]),
        "offset": offset,
        "min_max_aspect_ratios_order": min_max_aspect_ratios_order,
    }
    return apply("prior_box", input, image, attrs=attrs, name=name)


def box_coder(
    prior_box: Any,
    prior_box_var: Any,
    target_box: Any,
    code_type: str = "encode_center_size",
    box_normalized: bool = True,
    axis: int = 0,
    name: str | None = None,
) -> Any:
    """Boxes told relative to priors, or back: the distance of centres over sizes, and logarithms of sizes.

    Args:
        prior_box: ``[priors, 4]``. *prior_box_var*: what results are divided by, a tensor, four numbers or None.
        target_box: ``[boxes, 4]`` to encode, ``[boxes, priors, 4]`` to decode (*axis* 1: priors first).
        code_type: ``encode_center_size`` or ``decode_center_size``.
        box_normalized: whether boxes are shares of an image; pixels are counted from first to last.

    Returns:
        ``[boxes, priors, 4]``. There is no gradient.
    """
    attrs: dict[str, Any] = {"code_type": code_type, "box_normalized": box_normalized, "axis": axis}
    if isinstance(prior_box_var, (list, tuple)):
        attrs["variance"] = tuple(map(float, prior_box_var))
        prior_box_var = None
    return apply("box_coder", prior_box, prior_box_var, target_box, attrs=attrs, name=name)


def yolo_box(
    x: Any,
    img_size: Any,
    anchors: Sequence[int],
    class_num: int,
    conf_thresh: float,
    downsample_ratio: int,
    clip_bbox: bool = True,
    name: str | None = None,
    scale_x_y: float = 1.0,
    iou_aware: bool = False,
    iou_aware_factor: float = 0.5,
) -> Any:
    """Boxes, and the scores of their classes, from what a YOLOv3 net gives.

    Args:
        x: ``[batch, anchors · (5 + class_num), rows, columns]``.
        img_size: height and width of each image, whole numbers.
        anchors: widths and heights in pixels, in turn.
        conf_thresh: what is less sure gives zeros.

    Returns:
        ``[batch, boxes, 4]`` and ``[batch, boxes, class_num]``. There is no gradient.
    """
    attrs = {
        "anchors": tuple(anchors),
        "class_num": class_num,
        "conf_thresh": conf_thresh,
        "downsample_ratio": downsample_ratio,
        "clip_bbox": clip_bbox,
        "scale_x_y": scale_x_y,
        "iou_aware": iou_aware,
        "iou_aware_factor": iou_aware_factor,
    }
    return apply("yolo_box", x, img_size, attrs=attrs, name=name)


def yolo_loss(
    x: Any,
    gt_box: Any,
    gt_label: Any,
    anchors: Sequence[int],
    anchor_mask: Sequence[int],
    class_num: int,
    ignore_thresh: float,
    downsample_ratio: int,
    gt_score: Any = None,
    use_label_smooth: bool = True,
    name: str | None = None,
    scale_x_y: float = 1.0,
) -> Any:
    """The loss of YOLOv3 for each image (Redmon and Farhadi 2018).

    Args:
        x: ``[batch, len(anchor_mask) · (5 + class_num), rows, columns]``.
        gt_box: true boxes, centre and size as shares of the image, ``[batch, boxes, 4]``; those without a size
            do not count.
        gt_label, gt_score: their classes (int32) and weights, ``[batch, boxes]``.
        anchors: widths and heights in pixels, in turn; *anchor_mask* those that *x* is about.
        ignore_thresh: a box that overlaps a true one by more need not be told from an object.

    Returns:
        ``[batch]``. The gradient goes to *x*.
    """
    tensor(x, "x", "yolo_loss", FLOATS)
    attrs = {
        "anchors": tuple(anchors),
        "anchor_mask": tuple(anchor_mask),
        "class_num": class_num,
        "ignore_thresh": ignore_thresh,
        "downsample_ratio": downsample_ratio,
        "use_label_smooth": use_label_smooth,
        "scale_x_y": scale_x_y,
    }
    return apply("yolov3_loss", x, gt_box, gt_label, gt_score, attrs=attrs, name=name)[0]


# -- choosing among boxes --------------------------------------------------------------------------------------------


def nms(
    boxes: Any,
    iou_threshold: float = 0.3,
    scores: Any = None,
    category_idxs: Any = None,
    categories: Sequence[int] | None = None,
    top_k: int | None = None,
) -> Any:
    """Places of boxes that overlap no better one by more than *iou_threshold*.

    Args:
        boxes: ``[boxes, 4]``, the best first where there are no *scores*.
        category_idxs, categories: the class of each box, and all classes; boxes of one class suppress each other.
        top_k: with classes: so many of the best.

    Returns:
        Whole numbers, the best first. There is no gradient.

    Raises:
        WrongBoxes: classes without scores or without their list, a *top_k* above the number of boxes (an
            AssertionError).
    """
    attrs = {"iou_threshold": iou_threshold}
    if scores is None:
        _expect(category_idxs is None, "nms: category_idxs need scores")
        return apply("nms", boxes, attrs=attrs)
    if category_idxs is None:
        order = gradtool.argsort(scores, descending=True, stable=True)
        return gradtool.index_select(order, apply("nms", gradtool.index_select(boxes, order), attrs=attrs))
    _expect(
        categories is not None,
        "if category_idxs is given, categories which is a list of unique id of all categories is necessary",
    )
    kept = []
    for category in categories or ():
        places = gradtool.nonzero(category_idxs == category).flatten()
        order = gradtool.argsort(gradtool.index_select(scores, places), descending=True, stable=True)
        places = gradtool.index_select(places, order)
        best = apply("nms", gradtool.index_select(boxes, places), attrs=attrs)
        kept.append(gradtool.index_select(places, best))
    every = gradtool.sort(gradtool.concat(kept)) if kept else gradtool.zeros([0], "int64")
    order = gradtool.argsort(gradtool.index_select(scores, every), descending=True, stable=True)
    if top_k is not None:
        _expect(top_k <= scores.shape[0], "top_k should be smaller equal than the number of boxes")
        order = order[:top_k]
    return gradtool.index_select(every, order)


def matrix_nms(
    bboxes: Any,
    scores: Any,
    score_threshold: float,
    post_threshold: float,
    nms_top_k: int,
    keep_top_k: int,
    use_gaussian: bool = False,
    gaussian_sigma: float = 2.0,
    background_label: int = 0,
    normalized: bool = True,
    return_index: bool = False,
    return_rois_num: bool = True,
    name: str | None = None,
) -> Any:
    """Boxes whose scores decay by how far they overlap better ones (Wang et al. 2020).

    Args:
        bboxes: ``[batch, boxes, 4]``; *scores* ``[batch, classes, boxes]``.
        score_threshold, nms_top_k: which boxes take part; *post_threshold*, *keep_top_k* which are kept.
        background_label: a class that does not take part, or -1.

    Returns:
        Class, score and box in rows of six, how many each image has, and the places of the boxes; None for the last
        two where they are not asked for.
    """
    attrs = {
        "score_threshold": score_threshold,
        "post_threshold": post_threshold,
        "nms_top_k": nms_top_k,
        "keep_top_k": keep_top_k,
        "use_gaussian": use_gaussian,
        "gaussian_sigma": gaussian_sigma,
        "background_label": background_label,
        "normalized": normalized,
    }
    out, index, counts = apply("matrix_nms", bboxes, scores, attrs=attrs, name=name)
    return out, counts if return_rois_num else None, index if return_index else None


def distribute_fpn_proposals(
    fpn_rois: Any,
    min_level: int,
    max_level: int,
    refer_level: int,
    refer_scale: int,
    pixel_offset: bool = False,
    rois_num: Any = None,
    name: str | None = None,
) -> Any:
    """Regions by the level of a feature pyramid that suits their size (Lin et al. 2017).

    Args:
        fpn_rois: ``[regions, 4]``; *rois_num* how many each image has.
        refer_level, refer_scale: the level of regions of that size.

    Returns:
        The regions of each level, where each region went ``[regions, 1]``, and how many each image has in each level
        (None without *rois_num*).

    Raises:
        WrongBoxes: *max_level* is not above *min_level* (an AssertionError).
    """
    _expect(max_level > 0 and min_level > 0, "min_level and max_level must be positive")
    _expect(max_level >= min_level, "max_level must not be below min_level")
    levels = max_level - min_level + 1
    attrs = {
        "min_level": min_level,
        "max_level": max_level,
        "refer_level": refer_level,
        "refer_scale": refer_scale,
        "pixel_offset": pixel_offset,
    }
    wanted = {} if rois_num is None else {"MultiLevelRoIsNum": True}
    results = apply(
        "distribute_fpn_proposals",
        fpn_rois,
        rois_num,
        attrs=attrs,
        name=name,
        outputs=wanted,
        counts=(levels, levels),
    )
    rois, restore, *rest = results
    return list(rois), restore, list(rest[0]) if rois_num is not None else None


def generate_proposals(
    scores: Any,
    bbox_deltas: Any,
    img_size: Any,
    anchors: Any,
    variances: Any,
    pre_nms_top_n: int = 6000,
    post_nms_top_n: int = 1000,
    nms_thresh: float = 0.5,
    min_size: float = 0.1,
    eta: float = 1.0,
    pixel_offset: bool = False,
    return_rois_num: bool = False,
    name: str | None = None,
) -> Any:
    """Regions that may hold something: anchors moved by what a net says, the best of them (Ren et al. 2015).

    Args:
        scores: ``[batch, anchors, rows, columns]``; *bbox_deltas* ``[batch, 4 · anchors, rows, columns]``.
        img_size: height and width of each image.
        anchors, variances: ``[rows, columns, anchors, 4]``.

    Returns:
        Regions ``[regions, 4]``, their scores ``[regions, 1]``, and how many each image has (None unless it is asked
        for).
    """
    attrs = {
        "pre_nms_topN": pre_nms_top_n,
        "post_nms_topN": post_nms_top_n,
        "nms_thresh": nms_thresh,
        "min_size": min_size,
        "eta": eta,
        "pixel_offset": pixel_offset,
    }
    operands = (scores, bbox_deltas, img_size, anchors, variances)
    wanted = {"RpnRoisNum": True}
    rois, kept, counts = apply("generate_proposals_v2", *operands, attrs=attrs, name=name, outputs=wanted)
    return rois, kept, counts if return_rois_num else None


def read_file(filename: str, name: str | None = None) -> Any:
    """The bytes of a file as a tensor of type uint8.

    Raises:
        OSError: the file cannot be read.
    """
    return gradtool.to_tensor(np.frombuffer(Path(filename).read_bytes(), np.uint8))


__getattr__ = _lazy.refuse(__name__, globals())
