"""Boxes that detection starts from, and boxes told relative to others: ``x1 y1 x2 y2``."""

from __future__ import annotations

import math

from ...core.errors import OperatorError, ShapeError
from ...core.spec import UNKNOWN
from ..opdef import op
from ..samples import exactly, uniform
from ..writing import put
from .placing import _alike

PRIORS = {
    "min_sizes": (),
    "max_sizes": (),
    "aspect_ratios": (),
    "variances": (),
    "flip": True,
    "clip": True,
    "step_w": 0.0,
    "step_h": 0.0,
    "offset": 0.5,
    "min_max_aspect_ratios_order": False,
}


def _ratios(aspect_ratios, flip):
    """The ratios of the boxes: 1 first, each once, with its inverse where they are flipped."""
    ratios = [1.0]
    for ratio in aspect_ratios:
        if all(abs(ratio - r) >= 1e-6 for r in ratios):
            ratios += [ratio, 1.0 / ratio] if flip else [ratio]
    return ratios


def _prior_sizes(attrs):
    """Width and height of each box at a place."""
    sizes = []
    ratios = _ratios(attrs["aspect_ratios"], attrs["flip"])
    for i, small in enumerate(attrs["min_sizes"]):
        between = [((small * attrs["max_sizes"][i]) ** 0.5,) * 2] if attrs["max_sizes"] else []
        shaped = [(small * r**0.5, small / r**0.5) for r in ratios]
        ordered = attrs["min_max_aspect_ratios_order"]
        sizes += [shaped[0], *between, *shaped[1:]] if ordered else [*shaped, *between]
    return sizes


@op("prior_box", "Input Image -> Boxes Variances", attrs=PRIORS, differentiable=False)
def prior_box(k, x, image, **attrs):
    """Boxes of several sizes and ratios around each element of *Input*, as shares of the image's size (SSD)."""
    xp = k.xp
    rows, columns = x.shape[2:]
    height, width = image.shape[2:]
    steps = (attrs["step_w"], attrs["step_h"])
    across, down = steps if 0 not in steps else (width / columns, height / rows)
    sizes = xp.array(_prior_sizes(attrs)) / 2
    boxes = xp.zeros((rows, columns, len(sizes), 4))
    x0 = ((xp.arange(columns) + attrs["offset"]) * across)[None, :, None]
    y0 = ((xp.arange(rows) + attrs["offset"]) * down)[:, None, None]
    sides = (x0 - sizes[:, 0]) / width, (y0 - sizes[:, 1]) / height, (x0 + sizes[:, 0]) / width
    for i, side in enumerate((*sides, (y0 + sizes[:, 1]) / height)):
        boxes = put(boxes, (..., i), side)
    if attrs["clip"]:
        boxes = xp.clip(boxes, 0.0, 1.0)
    return boxes.astype(x.dtype), xp.broadcast_to(xp.array(attrs["variances"], x.dtype), boxes.shape)


@prior_box.infer
def _(x, image, **attrs):
    if x.ndim != 4 or image.ndim != 4:
        raise ShapeError("prior_box: Input and Image must have 4 dimensions")
    if attrs["max_sizes"] and len(attrs["max_sizes"]) != len(attrs["min_sizes"]):
        raise OperatorError("prior_box: max_sizes and min_sizes must have one length")
    if len(attrs["variances"]) != 4:
        raise OperatorError(f"prior_box: variances must be 4 numbers, not {list(attrs['variances'])}")
    boxes = x.replace_shape((*x.shape[2:], len(_prior_sizes(attrs)), 4))
    return boxes, boxes


ANCHORS = {
    "anchor_sizes": (),
    "aspect_ratios": (),
    "variances": (),
    "stride": (16.0, 16.0),
    "offset": 0.5,
}


@op("anchor_generator", "Input -> Anchors Variances", attrs=ANCHORS, differentiable=False)
def anchor_generator(k, x, *, anchor_sizes, aspect_ratios, variances, stride, offset):
    """Boxes of several sizes and ratios around each element of *Input*, in pixels (Faster R-CNN)."""
    xp = k.xp
    rows, columns = x.shape[2:]
    sizes = []
    for ratio in aspect_ratios:
        for size in anchor_sizes:
            width = math.floor((stride[0] * stride[1] / ratio) ** 0.5 + 0.5)
            height = math.floor(width * ratio + 0.5)
            sizes.append((size / stride[0] * width, size / stride[1] * height))
    halves = (xp.array(sizes) - 1) / 2
    boxes = xp.zeros((rows, columns, len(sizes), 4))
    x0 = (xp.arange(columns) * stride[0] + offset * (stride[0] - 1))[None, :, None]
    y0 = (xp.arange(rows) * stride[1] + offset * (stride[1] - 1))[:, None, None]
    sides = x0 - halves[:, 0], y0 - halves[:, 1], x0 + halves[:, 0], y0 + halves[:, 1]
    for i, side in enumerate(sides):
        boxes = put(boxes, (..., i), side)
    return boxes.astype(x.dtype), xp.broadcast_to(xp.array(variances, x.dtype), boxes.shape)


@anchor_generator.infer
def _(x, *, anchor_sizes, aspect_ratios, variances, stride):
    if x.ndim != 4 or len(stride) != 2 or len(variances) != 4:
        raise ShapeError("anchor_generator: Input must have 4 dimensions, stride 2 numbers and variances 4")
    boxes = x.replace_shape((*x.shape[2:], len(anchor_sizes) * len(aspect_ratios), 4))
    return boxes, boxes


CODES = {"code_type": "encode_center_size", "box_normalized": True, "axis": 0, "variance": ()}


def _centred(boxes, extra):
    """Centre and size of boxes."""
    size = boxes[..., 2:] - boxes[..., :2] + extra
    return boxes[..., :2] + size / 2, size


@op("box_coder", "PriorBox PriorBoxVar? TargetBox -> OutputBox", attrs=CODES, differentiable=False)
def box_coder(k, prior, spread, target, *, code_type, box_normalized, axis, variance):
    """Boxes told by the distance of their centres and the logarithm of their sizes relative to priors, or back."""
    xp = k.xp
    extra = 0.0 if box_normalized else 1.0
    place, size = _centred(prior, extra)
    given = spread if spread is not None else xp.array(variance or (1.0,) * 4, prior.dtype)
    if code_type == "encode_center_size":
        centre, wanted = (target[..., :2] + target[..., 2:]) / 2, target[..., 2:] - target[..., :2] + extra
        shift = (centre[:, None] - place) / size
        growth = xp.log(xp.abs(wanted[:, None] / size))
        return (xp.concatenate([shift, growth], axis=-1) / given).astype(target.dtype)
    if axis == 0:
        place, size = place[None], size[None]
        given = given[None] if given.ndim == 2 else given
    else:
        place, size = place[:, None], size[:, None]
        given = given[:, None] if given.ndim == 2 else given
    code = target * given
    centre, half = code[..., :2] * size + place, xp.exp(code[..., 2:]) * size / 2
    return xp.concatenate([centre - half, centre + half - extra], axis=-1).astype(target.dtype)


@box_coder.infer
def _(prior, spread, target, *, code_type, axis, variance):
    if code_type not in ("encode_center_size", "decode_center_size"):
        raise OperatorError(f"box_coder: code_type must be encode_center_size or decode_center_size, not {code_type!r}")
    if not _alike((*prior.shape[-1:], *target.shape[-1:]), (4, 4)):
        raise ShapeError(f"box_coder: PriorBox {list(prior.shape)} and TargetBox {list(target.shape)} must end with 4")
    if variance and len(variance) != 4:
        raise OperatorError(f"box_coder: variance must be 4 numbers, not {list(variance)}")
    if spread is not None and not _alike(spread.shape, prior.shape):
        raise ShapeError(f"box_coder: PriorBoxVar {list(spread.shape)} must be like PriorBox {list(prior.shape)}")
    if spread is not None and variance:
        raise OperatorError("box_coder: PriorBoxVar and the attribute variance cannot both be given")
    if code_type == "encode_center_size":
        if target.ndim != 2 or prior.ndim != 2:
            raise ShapeError("box_coder: PriorBox and TargetBox must have 2 dimensions to encode")
        return target.replace_shape((target.shape[0], prior.shape[0], 4))
    if target.ndim != 3 or axis not in (0, 1):
        raise ShapeError("box_coder: TargetBox must have 3 dimensions to decode, and axis be 0 or 1")
    meets = target.shape[1 - axis]
    if UNKNOWN not in (meets, prior.shape[0]) and meets != prior.shape[0]:
        raise ShapeError(f"box_coder: {prior.shape[0]} priors do not fit TargetBox {list(target.shape)}, axis={axis}")
    return target


YOLO = {
    "anchors": (),
    "class_num": 1,
    "conf_thresh": 0.01,
    "downsample_ratio": 32,
    "clip_bbox": True,
    "scale_x_y": 1.0,
    "iou_aware": False,
    "iou_aware_factor": 0.5,
}


def sigmoid(xp, x):
    return 1.0 / (1.0 + xp.exp(-x))


@op("yolo_box", "X ImgSize -> Boxes Scores", attrs=YOLO, differentiable=False)
def yolo_box(k, x, sizes, **attrs):
    """Boxes and the scores of their classes from what a YOLOv3 net gives; zeros below *conf_thresh*."""
    xp = k.xp
    batch, _, rows, columns = x.shape
    anchors = xp.array(attrs["anchors"], x.dtype).reshape(-1, 2)
    count = len(anchors)
    aware = count if attrs["iou_aware"] else 0
    parts = x[:, aware:].reshape(batch, count, 5 + attrs["class_num"], rows, columns)
    sure = sigmoid(xp, parts[:, :, 4])
    if aware:
        factor = attrs["iou_aware_factor"]
        sure = sure ** (1.0 - factor) * sigmoid(xp, x[:, :aware]) ** factor
    height, width = (sizes[:, i].astype(x.dtype).reshape(-1, 1, 1, 1) for i in (0, 1))
    scale, shift = attrs["scale_x_y"], -0.5 * (attrs["scale_x_y"] - 1.0)
    ratio = attrs["downsample_ratio"]
    x0 = (xp.arange(columns) + sigmoid(xp, parts[:, :, 0]) * scale + shift) * width / columns
    y0 = (xp.arange(rows)[:, None] + sigmoid(xp, parts[:, :, 1]) * scale + shift) * height / rows
    w = xp.exp(parts[:, :, 2]) * anchors[:, 0].reshape(-1, 1, 1) * width / (ratio * columns) / 2
    h = xp.exp(parts[:, :, 3]) * anchors[:, 1].reshape(-1, 1, 1) * height / (ratio * rows) / 2
    box = [x0 - w, y0 - h, x0 + w, y0 + h]
    if attrs["clip_bbox"]:
        box[:2] = [xp.maximum(v, 0.0) for v in box[:2]]
        box[2:] = [xp.minimum(v, end - 1) for v, end in zip(box[2:], (width, height), strict=True)]
    kept = ~(sure < attrs["conf_thresh"])[..., None]
    boxes = xp.where(kept, xp.stack(box, axis=-1), 0.0)
    scores = xp.where(kept, xp.moveaxis(sigmoid(xp, parts[:, :, 5:]) * sure[:, :, None], 2, -1), 0.0)
    flat = (batch, count * rows * columns)
    return boxes.reshape(*flat, 4).astype(x.dtype), scores.reshape(*flat, attrs["class_num"]).astype(x.dtype)


@yolo_box.infer
def _(x, sizes, *, anchors, class_num, iou_aware):
    count = len(anchors) // 2
    wanted = count * (5 + class_num + bool(iou_aware))
    if x.ndim != 4 or len(anchors) % 2 or x.shape[1] not in (wanted, UNKNOWN):
        raise ShapeError(f"yolo_box: X {list(x.shape)} must have {wanted} channels for {count} anchors")
    boxes = UNKNOWN if UNKNOWN in x.shape[2:] else count * x.shape[2] * x.shape[3]
    return x.replace_shape((x.shape[0], boxes, 4)), x.replace_shape((x.shape[0], boxes, class_num))


@prior_box.samples
def _(make):
    common = {"min_sizes": (2.0, 4.0), "variances": (0.1, 0.1, 0.2, 0.2)}
    yield make(x=(1, 2, 2, 3), image=(1, 3, 12, 9), **common, aspect_ratios=(2.0, 3.0), max_sizes=(5.0, 8.0))
    yield make(
        x=(2, 1, 2, 2),
        image=(2, 3, 8, 8),
        **common,
        aspect_ratios=(1.0, 2.0),
        max_sizes=(5.0, 8.0),
        flip=False,
        clip=False,
        step_w=3.0,
        step_h=4.0,
        min_max_aspect_ratios_order=True,
    )


@anchor_generator.samples
def _(make):
    yield make(x=(1, 2, 2, 3), anchor_sizes=(8.0, 16.0), aspect_ratios=(0.5, 1.0), variances=(0.1, 0.1, 0.2, 0.2))


BOXES = [[0.1, 0.1, 0.4, 0.5], [0.2, 0.3, 0.9, 0.8]]


@box_coder.samples
def _(make):
    prior, target = exactly(BOXES), exactly([[0.15, 0.2, 0.5, 0.45], [0.0, 0.1, 0.3, 0.6], [0.4, 0.2, 0.6, 0.9]])
    yield make(prior=prior, spread=uniform(0.1, 0.3, (2, 4)), target=target)
    yield make(prior=prior, target=target, variance=(0.1, 0.1, 0.2, 0.2), box_normalized=False)
    yield make(prior=prior, spread=uniform(0.1, 0.3, (2, 4)), target=(3, 2, 4), code_type="decode_center_size")
    yield make(prior=prior, target=(2, 3, 4), code_type="decode_center_size", axis=1, box_normalized=False)


@yolo_box.samples
def _(make):
    sizes = exactly([[64, 96], [50, 80]], "int32")
    anchors = (10, 13, 16, 30)
    yield make(x=(2, 14, 2, 3), sizes=sizes, anchors=anchors, class_num=2, conf_thresh=0.5)
    yield make(
        x=(2, 16, 2, 2), sizes=sizes, anchors=anchors, class_num=2, clip_bbox=False, scale_x_y=1.2, iou_aware=True
    )
