"""Choosing among boxes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gradtool import paddle
from gradtool.paddle._dispatch import apply

from ._refusals import expect


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
        expect(category_idxs is None, "nms: category_idxs need scores")
        return apply("nms", boxes, attrs=attrs)
    if category_idxs is None:
        order = paddle.argsort(scores, descending=True, stable=True)
        return paddle.index_select(order, apply("nms", paddle.index_select(boxes, order), attrs=attrs))
    expect(
        categories is not None,
        "if category_idxs is given, categories which is a list of unique id of all categories is necessary",
    )
    kept = []
    for category in categories or ():
        places = paddle.nonzero(category_idxs == category).flatten()
        order = paddle.argsort(paddle.index_select(scores, places), descending=True, stable=True)
        places = paddle.index_select(places, order)
        best = apply("nms", paddle.index_select(boxes, places), attrs=attrs)
        kept.append(paddle.index_select(places, best))
    every = paddle.sort(paddle.concat(kept)) if kept else paddle.zeros([0], "int64")
    order = paddle.argsort(paddle.index_select(scores, every), descending=True, stable=True)
    if top_k is not None:
        expect(top_k <= scores.shape[0], "top_k should be smaller equal than the number of boxes")
        order = order[:top_k]
    return paddle.index_select(every, order)


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
    expect(max_level > 0 and min_level > 0, "min_level and max_level must be positive")
    expect(max_level >= min_level, "max_level must not be below min_level")
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
