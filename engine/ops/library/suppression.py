"""Keeping the best of boxes that overlap, and proposals of regions: ``x1 y1 x2 y2``."""

from __future__ import annotations

import math

from ...core.errors import OperatorError, ShapeError
from ...core.spec import UNKNOWN
from ..opdef import Trait, op
from ..samples import exactly, uniform

KEPT = {
    "background_label": 0,
    "score_threshold": 0.0,
    "nms_top_k": -1,
    "keep_top_k": -1,
    "normalized": True,
}


def _areas(xp, boxes, extra):
    """The areas of boxes, 0 of those that end before they begin."""
    w, h = boxes[..., 2] - boxes[..., 0], boxes[..., 3] - boxes[..., 1]
    return xp.where((w < 0) | (h < 0), 0.0, (w + extra) * (h + extra))


def overlaps(xp, boxes, others, extra=0.0):
    """For each of *boxes* and *others*: the area that they share over the area that they cover."""
    left = xp.maximum(boxes[:, None, :2], others[None, :, :2])
    right = xp.minimum(boxes[:, None, 2:], others[None, :, 2:])
    shared = xp.clip(right - left + extra, 0, None).prod(axis=-1)
    apart = (others[None, :, :2] > boxes[:, None, 2:]) | (others[None, :, 2:] < boxes[:, None, :2])
    shared = xp.where(apart.any(axis=-1), 0.0, shared)
    covered = _areas(xp, boxes, extra)[:, None] + _areas(xp, others, extra)[None] - shared
    return xp.where(shared > 0, shared / xp.where(covered > 0, covered, 1.0), 0.0)


def _descending(xp, scores):
    """The places of *scores*, the largest first; of equal ones, the earlier first."""
    return xp.argsort(-scores, stable=True)


def _suppressed(shares, threshold, eta=1.0):
    """Places of boxes, best first, of which none overlaps an earlier one by more than the threshold allows."""
    kept: list[int] = []
    for i in range(len(shares)):
        if all(shares[i, j] <= threshold for j in kept):
            kept.append(i)
            if eta < 1.0 and threshold > 0.5:
                threshold *= eta
    return kept


# How many boxes are kept is in their values, here and in all operators below.
@op("nms", "Boxes -> KeepBoxesIdxs", attrs={"iou_threshold": 1.0}, trait=Trait.VALUES, differentiable=False)
def nms(k, boxes, *, iou_threshold):
    """Places of the boxes, sorted from the best, that overlap no better one of them by more than the threshold."""
    shares = overlaps(k.xp, boxes, boxes)
    return k.xp.array(_suppressed(shares, iou_threshold), k.xp.int64)


@nms.infer
def _(boxes):
    if boxes.ndim != 2 or boxes.shape[1] not in (4, UNKNOWN):
        raise ShapeError(f"nms: Boxes {list(boxes.shape)} must be boxes of 4 numbers")
    return boxes.replace_shape((UNKNOWN,)).replace_dtype("int64")


# -- several classes -------------------------------------------------------------------------------------------------


def _expect_scored(name, boxes, scores):
    if scores.ndim != 3 or boxes.ndim != 3 or boxes.shape[2] not in (4, UNKNOWN):
        raise ShapeError(
            f"{name}: BBoxes {list(boxes.shape)} must be [images, boxes, 4], "
            f"and Scores {list(scores.shape)} [images, classes, boxes]"
        )
    if UNKNOWN not in (scores.shape[2], boxes.shape[1]) and scores.shape[2] != boxes.shape[1]:
        raise ShapeError(f"{name}: Scores {list(scores.shape)} are not of BBoxes {list(boxes.shape)}")


def _candidates(xp, scores, threshold, count):
    """The places of the scores above *threshold*, best first, so many of them at most."""
    places = xp.nonzero(scores > threshold)[0]
    order = places[_descending(xp, scores[places])]
    return order[:count] if count > -1 else order


def _found(xp, images, dtype, width=6):
    """Rows of all images, with the places of their boxes and how many each image has."""
    rows = [row for image in images for row in image]
    out = xp.array([row[:width] for row in rows], dtype).reshape(-1, width)
    index = xp.array([row[width] for row in rows], xp.int32).reshape(-1, 1)
    return out, index, xp.array([len(image) for image in images], xp.int32)


def _best(rows, count):
    """The rows with the best scores, by class again."""
    if -1 < count < len(rows):
        best = sorted(range(len(rows)), key=lambda i: -rows[i][1])[:count]
        rows = sorted((rows[i] for i in best), key=lambda row: row[0])
    return rows


@op(
    "multiclass_nms3",
    "BBoxes Scores RoisNum? -> Out Index NmsRoisNum?",
    attrs={**KEPT, "nms_threshold": 0.3, "nms_eta": 1.0},
    trait=Trait.VALUES,
    differentiable=False,
)
def multiclass_nms3(k, boxes, scores, counts, **attrs):
    """Class, score and box of what is kept of each class of each image: the best that do not overlap better ones."""
    xp = k.xp
    if counts is not None:
        raise OperatorError("multiclass_nms3: boxes of several images in one list (RoisNum) are not taken yet")
    extra = 0.0 if attrs["normalized"] else 1.0
    images = []
    for n in range(len(scores)):
        rows = []
        for label in range(scores.shape[1]):
            if label == attrs["background_label"]:
                continue
            order = _candidates(xp, scores[n, label], attrs["score_threshold"], attrs["nms_top_k"])
            chosen = boxes[n, order]
            kept = _suppressed(overlaps(xp, chosen, chosen, extra), attrs["nms_threshold"], attrs["nms_eta"])
            for i in order[kept].tolist():
                place = n * boxes.shape[1] + i
                rows.append([label, scores[n, label, i], *boxes[n, i].tolist(), place])
        images.append(_best(rows, attrs["keep_top_k"]))
    return _found(xp, images, boxes.dtype)


@multiclass_nms3.infer
def _(boxes, scores, counts):
    if counts is None:
        _expect_scored("multiclass_nms3", boxes, scores)
    rows = boxes.replace_shape((UNKNOWN, 6))
    return (
        rows,
        rows.replace_shape((UNKNOWN, 1)).replace_dtype("int32"),
        rows.replace_shape(scores.shape[:1]).replace_dtype("int32"),
    )


@op(
    "matrix_nms",
    "BBoxes Scores -> Out Index RoisNum",
    attrs={**KEPT, "post_threshold": 0.0, "use_gaussian": False, "gaussian_sigma": 2.0},
    trait=Trait.VALUES,
    differentiable=False,
)
def matrix_nms(k, boxes, scores, **attrs):
    """Class, score and box of what is kept: scores decay by how far boxes overlap better ones (Wang et al. 2020)."""
    xp = k.xp
    extra = 0.0 if attrs["normalized"] else 1.0
    images = []
    for n in range(len(scores)):
        rows = []
        for label in range(scores.shape[1]):
            if label == attrs["background_label"]:
                continue
            order = _candidates(xp, scores[n, label], attrs["score_threshold"], attrs["nms_top_k"])
            decayed = scores[n, label, order] * _decay(xp, boxes[n, order], extra, attrs)
            for i, score in zip(order.tolist(), decayed.tolist(), strict=True):
                if score > attrs["post_threshold"]:
                    rows.append([label, score, *boxes[n, i].tolist(), n * boxes.shape[1] + i])
        rows.sort(key=lambda row: -row[1])
        images.append(rows[: attrs["keep_top_k"]] if attrs["keep_top_k"] > -1 else rows)
    return _found(xp, images, boxes.dtype)


def _decay(xp, boxes, extra, attrs):
    """By how much the score of each box shrinks for the better ones before it."""
    if not len(boxes):
        return xp.ones(0)
    shares = xp.tril(overlaps(xp, boxes, boxes, extra), -1)
    worst = xp.max(shares, axis=1)  # how far each overlaps a better one
    if attrs["use_gaussian"]:
        factors = xp.exp((worst[None] ** 2 - shares**2) * attrs["gaussian_sigma"])
    else:
        factors = (1 - shares) / (1 - worst[None])
    later = xp.tril(xp.ones(shares.shape, bool), -1)
    return xp.min(xp.where(later, factors, 1.0), axis=1)


@matrix_nms.infer
def _(boxes, scores):
    _expect_scored("matrix_nms", boxes, scores)
    rows = boxes.replace_shape((UNKNOWN, 6))
    return (
        rows,
        rows.replace_shape((UNKNOWN, 1)).replace_dtype("int32"),
        rows.replace_shape(scores.shape[:1]).replace_dtype("int32"),
    )


# -- proposals -------------------------------------------------------------------------------------------------------

LEVELS = {"min_level": 2, "max_level": 5, "refer_level": 4, "refer_scale": 224, "pixel_offset": True}


@op(
    "distribute_fpn_proposals",
    "FpnRois RoisNum? -> MultiFpnRois* RestoreIndex MultiLevelRoIsNum*?",
    attrs=LEVELS,
    trait=Trait.VALUES,
    differentiable=False,
)
def distribute_fpn_proposals(k, rois, counts, *, min_level, max_level, refer_level, refer_scale, pixel_offset):
    """Regions by the level of a feature pyramid that suits their size, and where each of them went."""
    xp = k.xp
    scale = xp.sqrt(_areas(xp, rois, 1.0 if pixel_offset else 0.0))
    level = xp.floor(xp.log2(scale / refer_scale + 1e-6) + refer_level)
    level = xp.clip(level, min_level, max_level).astype(xp.int64)
    numbers = xp.array([len(rois)]) if counts is None else counts.reshape(-1)
    images = xp.repeat(xp.arange(len(numbers)), numbers)
    places = [xp.nonzero(level == at)[0] for at in range(min_level, max_level + 1)]
    order = xp.concatenate(places)
    restore = xp.zeros(len(rois), xp.int32)
    restore[order] = xp.arange(len(rois))
    per_level = [xp.bincount(images[p], minlength=len(numbers)).astype(xp.int32) for p in places]
    return [rois[p] for p in places], restore.reshape(-1, 1), None if counts is None else per_level


@distribute_fpn_proposals.infer
def _(rois, counts, *, min_level, max_level):
    if rois.ndim != 2 or rois.shape[1] not in (4, UNKNOWN):
        raise ShapeError(f"distribute_fpn_proposals: FpnRois {list(rois.shape)} must be boxes of 4 numbers")
    if max_level < min_level:
        raise OperatorError(f"distribute_fpn_proposals: max_level {max_level} is below min_level {min_level}")
    levels = max_level - min_level + 1
    numbers = None if counts is None else (counts.replace_dtype("int32"),) * levels
    parts = (rois.replace_shape((UNKNOWN, 4)),) * levels
    return parts, rois.replace_shape((rois.shape[0], 1)).replace_dtype("int32"), numbers


PROPOSALS = {
    "pre_nms_topN": 6000,
    "post_nms_topN": 1000,
    "nms_thresh": 0.5,
    "min_size": 0.1,
    "eta": 1.0,
    "pixel_offset": True,
}
MOST = math.log(1000.0 / 16.0)
"""The logarithm of the largest growth of a box."""


def _moved(xp, anchors, deltas, variances, extra):
    """Anchors moved and grown by what a net says."""
    size = anchors[:, 2:] - anchors[:, :2] + extra
    centre = anchors[:, :2] + 0.5 * size
    code = deltas * variances
    centre = code[:, :2] * size + centre
    size = xp.exp(xp.minimum(code[:, 2:], MOST)) * size
    return xp.concatenate([centre - size / 2, centre + size / 2 - extra], axis=1)


def _proposed(xp, scores, deltas, image, anchors, variances, attrs):
    """Boxes and scores that are kept of one image."""
    extra = 1.0 if attrs["pixel_offset"] else 0.0
    count = attrs["pre_nms_topN"]
    order = _descending(xp, scores)[: count if count > 0 else None]
    boxes = _moved(xp, anchors[order], deltas[order], variances[order], extra)
    ends = xp.array([image[1], image[0]]) - extra
    boxes = xp.clip(boxes, 0.0, xp.concatenate([ends, ends]))
    small = max(attrs["min_size"], 1.0)
    size = boxes[:, 2:] - boxes[:, :2] + extra
    fits = (size >= small).all(axis=1)
    if attrs["pixel_offset"]:
        fits &= (boxes[:, :2] + size / 2 <= ends + extra).all(axis=1)
    boxes, kept_scores = boxes[fits], scores[order][fits]
    if not len(boxes):
        return xp.zeros((1, 4)), xp.zeros(1)
    if attrs["nms_thresh"] > 0:
        kept = _suppressed(overlaps(xp, boxes, boxes, extra), attrs["nms_thresh"], attrs["eta"])
        kept = kept[: attrs["post_nms_topN"]] if attrs["post_nms_topN"] > 0 else kept
        boxes, kept_scores = boxes[kept], kept_scores[kept]
    return boxes, kept_scores


@op(
    "generate_proposals_v2",
    "Scores BboxDeltas ImShape Anchors Variances -> RpnRois RpnRoiProbs RpnRoisNum?",
    attrs=PROPOSALS,
    trait=Trait.VALUES,
    differentiable=False,
)
def generate_proposals_v2(k, scores, deltas, images, anchors, variances, **attrs):
    """Regions that may hold something: anchors moved by what a net says, the best that do not overlap better ones."""
    xp = k.xp
    boxes, kept = [], []
    flat = anchors.reshape(-1, 4), variances.reshape(-1, 4)
    for n in range(len(scores)):
        by_place = xp.moveaxis(scores[n], 0, -1).reshape(-1)
        moves = xp.moveaxis(deltas[n].reshape(-1, 4, *deltas.shape[2:]), (0, 1), (2, 3)).reshape(-1, 4)
        found = _proposed(xp, by_place, moves, images[n].tolist(), *flat, attrs)
        boxes.append(found[0])
        kept.append(found[1])
    numbers = xp.array([len(b) for b in boxes], xp.int32)
    dtype = scores.dtype
    return xp.concatenate(boxes).astype(dtype), xp.concatenate(kept).reshape(-1, 1).astype(dtype), numbers


@generate_proposals_v2.infer
def _(scores, deltas, images, anchors, variances):
    if scores.ndim != 4 or deltas.ndim != 4:
        raise ShapeError("generate_proposals_v2: Scores and BboxDeltas must have 4 dimensions")
    rows = scores.replace_shape((UNKNOWN, 4))
    return rows, rows.replace_shape((UNKNOWN, 1)), rows.replace_shape(scores.shape[:1]).replace_dtype("int32")


SOME = [[0.0, 0.0, 4.0, 4.0], [0.5, 0.5, 4.5, 4.0], [3.0, 3.0, 8.0, 9.0], [0.0, 5.0, 3.0, 9.0], [3.5, 3.0, 8.0, 8.0]]


@nms.samples
def _(make):
    yield make(boxes=exactly(SOME), iou_threshold=0.4)


def _scores(rng):
    return (rng.permutation(20).reshape(2, 2, 5) + 1.0) / 21


@multiclass_nms3.samples
def _(make):
    boxes = exactly([SOME, SOME[::-1]])
    common = {"score_threshold": 0.1, "nms_top_k": 4, "keep_top_k": 5}
    yield make(boxes=boxes, scores=_scores, **common, background_label=-1)
    yield make(boxes=boxes, scores=_scores, **common, nms_threshold=0.6, normalized=False, nms_eta=0.9)


@matrix_nms.samples
def _(make):
    boxes = exactly([SOME, SOME[::-1]])
    common = {"score_threshold": 0.1, "nms_top_k": 4, "keep_top_k": 5}
    yield make(boxes=boxes, scores=_scores, **common, background_label=-1, post_threshold=0.2)
    yield make(boxes=boxes, scores=_scores, **common, use_gaussian=True, normalized=False)


@distribute_fpn_proposals.samples
def _(make):
    rois = exactly([[0.0, 0, 10, 10], [0, 0, 100, 90], [5, 5, 30, 40], [0, 0, 50, 60], [0, 0, 300, 200]])
    levels = {"min_level": 2, "max_level": 4, "refer_level": 3, "refer_scale": 50}
    yield make(rois=rois, counts=exactly([2, 3], "int32"), **levels)
    yield make(rois=rois, counts=exactly([5], "int32"), **levels, pixel_offset=False)


@generate_proposals_v2.samples
def _(make):
    common = {
        "images": exactly([[20.0, 24.0], [18.0, 20.0]]),
        "anchors": uniform(2.0, 9.0, (2, 3, 2, 4)),
        "variances": uniform(0.5, 1.0, (2, 3, 2, 4)),
    }

    def anchors(rng):
        low = rng.uniform(0, 8, (2, 3, 2, 2))
        high = low + rng.uniform(4, 12, (2, 3, 2, 2))
        return _joined(low, high)

    common["anchors"] = anchors
    sizes = {"pre_nms_topN": 10, "post_nms_topN": 4, "nms_thresh": 0.5}
    yield make(scores=lambda rng: rng.permutation(24).reshape(2, 2, 2, 3) / 24, deltas=(2, 8, 2, 3), **common, **sizes)
    yield make(
        scores=lambda rng: rng.permutation(24).reshape(2, 2, 2, 3) / 24,
        deltas=(2, 8, 2, 3),
        **common,
        **sizes,
        pixel_offset=False,
    )


def _joined(low, high):
    out = low.repeat(2, axis=-1)
    out[..., :2], out[..., 2:] = low, high
    return out
