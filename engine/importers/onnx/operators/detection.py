"""Choosing among boxes."""

from __future__ import annotations

from typing import Any

from gradtool import paddle
from gradtool.paddle.vision.ops import nms

from ..errors import Lacking
from ..node import OnnxNode
from .rows import row

_MOST_LISTS = 4096
"""Images times classes: each has operators of its own."""


@row("NonMaxSuppression", since=10)
def _suppress(n: OnnxNode) -> Any:
    """For each class of each image the best boxes that overlap no better one: image, class and place of each."""
    boxes, scores = n[0], n[1]
    images, classes = scores.shape[:2]
    if images < 0 or classes < 0:
        raise Lacking("images or classes of a number that is not known")
    if images * classes > _MOST_LISTS:
        raise Lacking(f"{images * classes} lists of boxes, of which {_MOST_LISTS} are read")
    most = int(n.number(2, 0))
    share = float(n.number(3, 0.0))
    least = n.number(4)
    if most <= 0 or not images * classes:
        return paddle.full([0, 3], 0, "int64")
    corners = _corners(boxes, bool(n.whole("center_point_box", 0)))
    parts = []
    for image in range(images):
        for label in range(classes):
            own, listed = corners[image], scores[image, label]
            places = None
            if least is not None:
                places = paddle.reshape(paddle.nonzero(listed > float(least)), [-1])
                own, listed = paddle.index_select(own, places), paddle.index_select(listed, places)
            chosen = nms(own, share, listed)[:most]
            chosen = chosen if places is None else paddle.index_select(places, chosen)
            of = [paddle.full_like(chosen, image), paddle.full_like(chosen, label), chosen]
            parts.append(paddle.stack(of, axis=1))
    return parts[0] if len(parts) == 1 else paddle.concat(parts, axis=0)


def _corners(boxes: Any, centred: bool) -> Any:
    """Boxes as their smaller and their larger corner; they may be told by any two, or by middle and size."""
    first, second = paddle.split(boxes, 2, axis=2)
    if centred:
        return paddle.concat([first - second / 2, first + second / 2], axis=2)
    return paddle.concat([paddle.minimum(first, second), paddle.maximum(first, second)], axis=2)
