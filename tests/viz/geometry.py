"""What holds for every picture: no line through a box, no text over another, pairs across from each other."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gradtool.engine.view.graph import BACKWARD, BOTH, OP
from gradtool.viz.mirror.columns import GUTTERS
from gradtool.viz.mirror.layout import SMALL
from gradtool.viz.mirror.scene import Scene
from gradtool.viz.text import text_width

Rectangles = NDArray[np.float64]
"""Rows of left, top, right, bottom."""


def faults(scene: Scene) -> list[str]:
    """What is wrong with a picture, in words; nothing if all is well."""
    if not scene.boxes:
        return []
    boxes = np.array([(b.x, b.y, b.right, b.bottom) for b in scene.boxes])
    return [
        *_outside(scene, boxes),
        *(f"{scene.boxes[i].node} over {scene.boxes[j].node}" for i, j in _overlaps(boxes)),
        *_lines_through_boxes(scene, boxes),
        *_loose_ends(scene),
        *_texts(scene, boxes),
        *_pairs(scene),
    ]


def _outside(scene: Scene, boxes: Rectangles) -> list[str]:
    points = np.array([p for r in scene.routes for p in r.points]).reshape(-1, 2)
    corners = np.concatenate([boxes[:, :2], boxes[:, 2:], points])
    inside = (corners >= 0).all() and (corners <= (scene.width, scene.height)).all()
    return [] if inside else ["something lies outside the picture"]


def _overlaps(these: Rectangles, gap: float = 0.0) -> list[tuple[int, int]]:
    """Pairs of rectangles that share more than a border, by a sweep from top to bottom."""
    order = np.argsort(these[:, 1], kind="stable")
    tops = these[order, 1]
    pairs = []
    for at, i in enumerate(order.tolist()):
        end = int(np.searchsorted(tops, these[i, 3] - gap, side="left"))
        others = order[at + 1 : end]
        hit = (these[others, 0] < these[i, 2] - gap) & (these[others, 2] > these[i, 0] + gap)
        pairs += [(i, j) for j in others[hit].tolist()]
    return pairs


def _lines_through_boxes(scene: Scene, boxes: Rectangles) -> list[str]:
    """Lines that enter a box; their ends touch the borders of their own two boxes and no more."""
    ends, owners = [], []
    for n, route in enumerate(scene.routes):
        for (x, y), (u, v) in zip(route.points, route.points[1:], strict=False):
            ends.append((min(x, u), min(y, v), max(x, u), max(y, v)))
            owners.append(n)
    if not ends:
        return []
    lines = np.array(ends)
    order = np.argsort(boxes[:, 1], kind="stable")
    sorted_boxes = boxes[order]
    deepest = float((boxes[:, 3] - boxes[:, 1]).max())
    first = np.searchsorted(sorted_boxes[:, 1], lines[:, 1] - deepest, side="left")
    last = np.searchsorted(sorted_boxes[:, 1], lines[:, 3], side="right")
    texts = []
    for k, (a, b) in enumerate(zip(first.tolist(), last.tolist(), strict=True)):
        near = sorted_boxes[a:b]
        left, top, right, bottom = lines[k]
        hit = (near[:, 0] < right - 0.01) & (near[:, 2] > left + 0.01)
        hit |= (near[:, 0] < left - 0.01) & (near[:, 2] > right + 0.01)
        tall = (near[:, 1] < bottom - 0.01) & (near[:, 3] > top + 0.01)
        tall |= (near[:, 1] < top - 0.01) & (near[:, 3] > bottom + 0.01)
        for j in order[a:b][hit & tall].tolist():
            texts.append(f"line {scene.view.edges[scene.routes[owners[k]].edge]} through {scene.boxes[j].node}")
    return texts


def _loose_ends(scene: Scene) -> list[str]:
    """Routes that do not begin and end on the borders of their boxes, or that are not drawn level or upright."""
    boxes = {b.node: b for b in scene.boxes}
    texts = []
    for route in scene.routes:
        edge = scene.view.edges[route.edge]
        for (x, y), id_ in ((route.points[0], edge.source), (route.points[-1], edge.target)):
            b = boxes[id_]
            on_side = (abs(x - b.x) < 0.01 or abs(x - b.right) < 0.01) and b.y <= y <= b.bottom
            on_edge = (abs(y - b.y) < 0.01 or abs(y - b.bottom) < 0.01) and b.x <= x <= b.right
            if not on_side and not on_edge:
                texts.append(f"{edge} does not touch {id_}")
        for (x, y), (u, v) in zip(route.points, route.points[1:], strict=False):
            if abs(x - u) > 0.01 and abs(y - v) > 0.01:
                texts.append(f"{edge} is drawn at a slant")
    return texts


def _texts(scene: Scene, boxes: Rectangles) -> list[str]:
    """Texts of edges over each other or over a box, and texts wider than the box that they are written in."""
    labels = [r.label for r in scene.routes if r.label is not None]
    places = np.array(
        [(t.x, t.y - SMALL + 1, t.x + text_width(t.text, SMALL), t.y + 1) for t in labels], dtype=float
    ).reshape(-1, 4)
    both = np.concatenate([boxes, places])
    names = [*(b.node for b in scene.boxes), *(t.text for t in labels)]
    messages = [f"text {names[i]!r} over {names[j]!r}" for i, j in _overlaps(both, 0.01)]
    for b in scene.boxes:
        wide = max(text_width(b.lines[0], 11), text_width(b.lines[1], 9))
        if wide > b.width:
            messages.append(f"text of {b.node} is wider than its box")
    return messages


def _pairs(scene: Scene) -> list[str]:
    """Operators that are not across from what they differentiate, parameters without a gradient on their line."""
    boxes = {b.node: b for b in scene.boxes}
    by_id = scene.view.by_id()
    messages = []
    lines: dict[str, list[bool]] = {}
    for b in scene.boxes:
        node = by_id[b.node]
        other = boxes.get(node.pair or "")
        if other is None or node.part != BACKWARD or b.column == "recomputed":
            continue
        if node.kind == OP and b.row != other.row and scene.view.part == BOTH:
            messages.append(f"{node.name} is not across from {node.pair}")
        if b.column in GUTTERS and other.column in GUTTERS and node.role == "gradient":
            lines.setdefault(other.node, []).append(b.y == other.y)
    # Of several gradients of one parameter, or of parameters folded into one box, one is on its line.
    return messages + [f"no gradient is on the line of {by_id[i].name}" for i, level in lines.items() if not any(level)]
