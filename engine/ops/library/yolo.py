"""The loss of YOLOv3 (Redmon and Farhadi 2018): places, sizes, objects and classes of boxes on a grid."""

from __future__ import annotations

import math

from ...core.errors import OperatorError, ShapeError
from ...core.spec import UNKNOWN
from ..opdef import Like, Trait, op
from ..samples import exactly
from .anchors import sigmoid

ATTRS = {
    "anchors": (),
    "anchor_mask": (),
    "class_num": 1,
    "ignore_thresh": 0.7,
    "downsample_ratio": 32,
    "use_label_smooth": True,
    "scale_x_y": 1.0,
}
LEAST = 1e-6
"""Boxes that are not wider or higher count for nothing."""


def _centred_overlaps(xp, boxes, others):
    """Shared over covered area of boxes told by centre and size, each with each."""
    shared = 1.0
    for i in (0, 1):
        left = xp.maximum((boxes[..., i] - boxes[..., 2 + i] / 2)[..., None], others[..., i] - others[..., 2 + i] / 2)
        right = xp.minimum((boxes[..., i] + boxes[..., 2 + i] / 2)[..., None], others[..., i] + others[..., 2 + i] / 2)
        shared = shared * xp.maximum(right - left, 0.0)
    areas = (boxes[..., 2] * boxes[..., 3])[..., None] + others[..., 2] * others[..., 3]
    return shared / (areas - shared)


class _Grid:
    """Target of each element of *X*, and its weight.

    Attributes:
        weight, target: in the shape of *X* by anchor and part; a logit's loss is ``weight·softplus(x) - target·x``.
        sizes: for each box of an image that counts: image, anchor, part, row, column, what it is to be, its weight.
        objects, matches: what the operator gives beside the loss.
    """

    def __init__(self, xp, x, boxes, labels, scores, attrs):
        self.attrs = attrs
        mask, classes = attrs["anchor_mask"], attrs["class_num"]
        self.shape = (x.shape[0], len(mask), 5 + classes, *x.shape[2:])
        self.parts = x.reshape(self.shape)
        self.weight, self.target = xp.zeros(self.shape, x.dtype), xp.zeros(self.shape, x.dtype)
        self.sizes: list[tuple[float, ...]] = []
        self.matches = xp.full(boxes.shape[:2], -1, xp.int32)
        counts = (boxes[..., 2] > LEAST) & (boxes[..., 3] > LEAST)
        self.objects = self._ignored(xp, boxes, counts)
        for n, t in zip(*(v.tolist() for v in xp.nonzero(counts)), strict=True):
            self._match(xp, n, t, boxes[n, t].tolist(), int(labels[n, t]), 1.0 if scores is None else scores[n, t])
        objects = xp.where(self.objects > 1e-5, self.objects, 0.0)
        self.weight[:, :, 4] = xp.where(self.objects > 1e-5, objects, (self.objects > -0.5) * 1.0)
        self.target[:, :, 4] = objects

    def _ignored(self, xp, boxes, counts):
        """-1 for each predicted box that overlaps a true one too much to be no object, and 0."""
        rows, columns = self.shape[3:]
        anchors = xp.array(self.attrs["anchors"], xp.float64).reshape(-1, 2)[list(self.attrs["anchor_mask"])]
        scale = self.attrs["scale_x_y"]
        shift = -0.5 * (scale - 1.0)
        ratio = self.attrs["downsample_ratio"]
        parts = self.parts
        across = (xp.arange(columns) + sigmoid(xp, parts[:, :, 0]) * scale + shift) / columns
        down = (xp.arange(rows)[:, None] + sigmoid(xp, parts[:, :, 1]) * scale + shift) / rows
        w = xp.exp(parts[:, :, 2]) * anchors[:, 0].reshape(-1, 1, 1) / (ratio * rows)
        h = xp.exp(parts[:, :, 3]) * anchors[:, 1].reshape(-1, 1, 1) / (ratio * rows)
        predicted = xp.stack([across, down, w, h], axis=-1)
        shares = _centred_overlaps(xp, predicted, boxes.reshape(len(boxes), 1, 1, 1, -1, 4))
        shares = xp.where(counts.reshape(len(boxes), 1, 1, 1, -1), shares, 0.0)
        best = shares.max(axis=-1) if boxes.shape[1] else xp.zeros(shares.shape[:-1])
        return xp.where(best > self.attrs["ignore_thresh"], -1.0, 0.0).astype(parts.dtype)

    def _match(self, xp, n, t, box, label, score):
        """The anchor whose shape is most like a true box is to find it."""
        x, y, w, h = box
        size = self.attrs["downsample_ratio"] * self.shape[3]
        anchors = self.attrs["anchors"]
        shapes = xp.array(anchors, xp.float64).reshape(-1, 2) / size
        shared = xp.minimum(shapes[:, 0], w) * xp.minimum(shapes[:, 1], h)
        best = int(xp.argmax(shared / (shapes[:, 0] * shapes[:, 1] + w * h - shared)))
        if best not in self.attrs["anchor_mask"]:
            return
        at = self.attrs["anchor_mask"].index(best)
        self.matches[n, t] = at
        column, row = int(x * self.shape[4]), int(y * self.shape[3])
        if not (0 <= label < self.attrs["class_num"] and column < self.shape[4] and row < self.shape[3]):
            raise OperatorError(
                f"yolov3_loss: box {t} of image {n} has the label {label} and the centre {x:g}, {y:g}; labels are "
                f"below class_num={self.attrs['class_num']}, centres from 0 to 1"
            )
        share = (2.0 - w * h) * score
        for part, value in ((0, x * self.shape[4] - column), (1, y * self.shape[3] - row)):
            self._wants(n, at, part, row, column, value, share)
        for part, extent in ((2, w), (3, h)):
            value = math.log(extent * size / anchors[2 * best + part - 2])
            self.sizes.append((n, at, part, row, column, value, share))
        self.objects[n, at, row, column] = score
        smooth = min(1.0 / self.attrs["class_num"], 1.0 / 40) if self.attrs["use_label_smooth"] else 0.0
        for c in range(self.attrs["class_num"]):
            self._wants(n, at, 5 + c, row, column, 1.0 - smooth if c == label else smooth, score)

    def _wants(self, n, at, part, row, column, value, weight):
        self.weight[n, at, part, row, column] += weight
        self.target[n, at, part, row, column] += weight * value

    def size_arrays(self, xp):
        """Places in the grid, what stands there is to be, and the weights."""
        columns = [xp.array(v) for v in zip(*self.sizes, strict=True)] if self.sizes else [xp.zeros(0, int)] * 7
        return tuple(columns[:5]), columns[5], columns[6]


@op(
    "yolov3_loss",
    "X GTBox GTLabel GTScore? -> Loss ObjectnessMask GTMatchMask",
    attrs=ATTRS,
    trait=Trait.VALUES,  # box by box it is settled which cell of the grid is to find it
)
def yolov3_loss(k, x, boxes, labels, scores, **attrs):
    """The loss of each image: its true boxes (centre and size, as shares of the image) against a grid of predictions.

    A predicted box that overlaps a true one by more than *ignore_thresh* need not be told from an object.
    """
    xp = k.xp
    grid = _Grid(xp, x, boxes, labels, scores, attrs)
    logits = grid.parts
    softplus = xp.maximum(logits, 0) + xp.log1p(xp.exp(-xp.abs(logits)))
    counted = (grid.weight != 0) | (grid.target != 0)
    terms = xp.where(counted, grid.weight * softplus - grid.target * logits, 0.0)
    loss = terms.sum(axis=(1, 2, 3, 4))
    at, wanted, weights = grid.size_arrays(xp)
    xp.add.at(loss, at[0], weights * xp.abs(logits[at] - wanted))
    return loss.astype(x.dtype), grid.objects, grid.matches


@yolov3_loss.infer
def _(x, boxes, labels, scores, *, anchors, anchor_mask, class_num):
    wanted = len(anchor_mask) * (5 + class_num)
    if x.ndim != 4 or x.shape[1] not in (wanted, UNKNOWN):
        raise ShapeError(
            f"yolov3_loss: X {list(x.shape)} must have {wanted} channels for {len(anchor_mask)} anchors and "
            f"{class_num} classes"
        )
    if boxes.ndim != 3 or boxes.shape[2] not in (4, UNKNOWN) or labels.ndim != 2:
        raise ShapeError(
            f"yolov3_loss: GTBox {list(boxes.shape)} must be [images, boxes, 4] and GTLabel {list(labels.shape)} "
            "[images, boxes]"
        )
    if len(anchors) % 2 or any(not 0 <= m < len(anchors) // 2 for m in anchor_mask):
        raise OperatorError(f"yolov3_loss: anchor_mask {list(anchor_mask)} must name some of the anchors {anchors}")
    objects = x.replace_shape((x.shape[0], len(anchor_mask), *x.shape[2:]))
    return x.replace_shape(x.shape[:1]), objects, boxes.replace_shape(boxes.shape[:2]).replace_dtype("int32")


@yolov3_loss.gradient(wrt="X")
def _(k, x, boxes, labels, scores, objectnessmask: Like, gtmatchmask: Like, dloss, **attrs):
    return k.yolo_slope(x, boxes, labels, scores, **attrs) * k.unsqueeze(dloss, axes=(1, 2, 3))[0]


@op("yolo_slope", "X GTBox GTLabel GTScore? -> Out", attrs=ATTRS, trait=Trait.INTERNAL | Trait.VALUES)
def yolo_slope(k, x, boxes, labels, scores, **attrs):
    """The derivative of each image's loss by its elements."""
    xp = k.xp
    grid = _Grid(xp, x, boxes, labels, scores, attrs)
    counted = (grid.weight != 0) | (grid.target != 0)
    slope = xp.where(counted, grid.weight * sigmoid(xp, grid.parts) - grid.target, 0.0)
    at, wanted, weights = grid.size_arrays(xp)
    xp.add.at(slope, at, weights * xp.sign(grid.parts[at] - wanted))
    return slope.reshape(x.shape).astype(x.dtype)


@yolo_slope.gradient(wrt="X")
def _(k, x, boxes, labels, scores, dout, **attrs):
    weight = k.yolo_weight(x, boxes, labels, scores, **attrs)
    s = k.sigmoid(x)
    return dout * weight * s * (1 - s)


@op(
    "yolo_weight",
    "X GTBox GTLabel GTScore? -> Out",
    attrs=ATTRS,
    trait=Trait.INTERNAL | Trait.VALUES,
    differentiable=False,
)
def yolo_weight(k, x, boxes, labels, scores, **attrs):
    """Weight of the cross entropy of each element."""
    return _Grid(k.xp, x, boxes, labels, scores, attrs).weight.reshape(x.shape)


@yolov3_loss.samples
def _(make):
    boxes = exactly([[[0.3, 0.4, 0.3, 0.5], [0.7, 0.2, 0.6, 0.2], [0, 0, 0, 0]], [[0.31, 0.4, 0.4, 0.4]] * 3])
    labels = exactly([[1, 0, 0], [0, 1, 1]], "int32")
    common = {
        "labels": labels,
        "anchors": (10, 13, 16, 30, 33, 23),
        "anchor_mask": (0, 2),
        "class_num": 2,
        "ignore_thresh": 0.5,
    }
    scores = exactly([[0.9, 0.6, 0.5], [0.8, 0.7, 1.0]])
    yield make(x=(2, 14, 3, 3), boxes=boxes, **common, smooth=False)
    yield make(x=(2, 14, 3, 3), boxes=boxes, scores=scores, **common, scale_x_y=1.2, smooth=False)
    yield make(x=(2, 14, 3, 3), boxes=boxes, **common, use_label_smooth=False, smooth=False)
