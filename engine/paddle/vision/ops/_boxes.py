"""Boxes as networks tell them, and the loss of those that they tell."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gradtool.paddle._arguments import tensor
from gradtool.paddle._dispatch import apply
from gradtool.paddle._images import FLOATS

from ._refusals import expect


def _list(value: Any) -> list[float]:
    return list(value) if isinstance(value, (list, tuple)) else [value]


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
    expect(len(steps) == 2, "steps should be (step_w, step_h)")
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
