"""Scenes and views in numbers: what goes through arrays is what goes through objects."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from gradtool import paddle
from gradtool.engine.view.from_program import view
from gradtool.engine.view.graph import GraphView
from gradtool.viz import fold
from gradtool.viz.mirror import frames
from gradtool.viz.mirror.layout import mirror
from gradtool.viz.mirror.scene import KINDS
from tests.viz.geometry import faults


def program(layers: int = 3) -> GraphView:
    x = h = paddle.static.data("x", [2, 3])
    for i in range(layers):
        with paddle.static.name_scope(f"layer{i}"):
            w = paddle.static.create_parameter([3, 3], "float32", name=f"layer{i}.w")
            h = paddle.tanh(paddle.matmul(h, w)) + x
    loss = paddle.mean(h)
    pairs = paddle.static.append_backward(loss)
    return view(loss.block.program, loss=loss, gradients=dict(pairs))


def test_views_know_their_edges_in_numbers() -> None:
    whole = program()
    for same in (whole, replace(whole), whole.only("backward"), fold.layers(whole)):
        ids = [n.id for n in same.nodes]
        at = same.positions
        ends = zip(at.source.tolist(), at.target.tolist(), at.tensor.tolist(), strict=True)
        assert [(ids[s], ids[t], ids[k]) for s, t, k in ends] == [(e.source, e.target, e.tensor) for e in same.edges]
        assert [ids[p] if p >= 0 else None for p in at.pair.tolist()] == [
            n.pair if n.pair in ids else None for n in same.nodes
        ]


def test_a_view_made_from_another_does_not_keep_its_numbers() -> None:
    whole = program()
    fewer = replace(whole, nodes=whole.nodes[1:], edges=whole.edges[1:])
    with pytest.raises(KeyError):
        _ = fewer.positions
    assert len(replace(whole, edges=whole.edges[:3]).positions.source) == 3


def test_boxes_and_lines_are_sequences() -> None:
    scene = mirror(program())
    boxes, routes = list(scene.boxes), list(scene.routes)
    assert len(scene.boxes) == len(boxes) == len(scene.view.drawn())
    assert [scene.boxes[i] for i in range(len(boxes))] == boxes
    assert list(scene.boxes[2:5]) == boxes[2:5]
    assert scene.boxes[-1] == boxes[-1]
    assert [scene.routes[i] for i in range(len(routes))] == routes
    assert scene.routes[1:3] == routes[1:3]
    assert scene.routes[-1] == routes[-1]
    assert scene.routes.kinds() == tuple(k for k in KINDS if k in {r.kind for r in routes})
    for sequence in (scene.boxes, scene.routes):
        with pytest.raises(IndexError):
            sequence[len(sequence)]


def test_an_empty_view_is_an_empty_scene() -> None:
    scene = mirror(GraphView("", (), ()))
    assert (list(scene.boxes), list(scene.routes), scene.frames, scene.width, scene.height) == ([], [], (), 0.0, 0.0)


def test_frames_make_room_for_those_inside() -> None:
    spans = [(0, 9), (0, 4), (0, 1), (3, 4), (6, 9), (6, 9)]
    nestings = frames.nestings([frames.FrameRows(str(i), "layer", "", (), 0, a, b) for i, (a, b) in enumerate(spans)])
    assert [(n.above, n.below) for n in nestings] == [(2, 2), (1, 1), (0, 0), (0, 0), (0, 0), (0, 0)]
    assert [n.inside for n in nestings] == [2, 2, 0, 0, 1, 1]
    apart = frames.nestings(
        [frames.FrameRows("a", "layer", "", (), 0, 0, 3), frames.FrameRows("b", "layer", "", (), 1, 1, 2)]
    )
    assert [n.inside for n in apart] == [0, 0]


def test_thousands_of_layers_have_frames_in_proportion() -> None:
    """Ten thousand frames; comparing each with each would take minutes."""
    x = h = paddle.static.data("x", [2, 3])
    for i in range(10_000):
        with paddle.static.name_scope(f"layer{i}"):
            h = paddle.tanh(paddle.square(h))
    scene = mirror(view(x.block.program))
    assert len(scene.frames) == 10_000
    assert len({f.y for f in scene.frames}) == 10_000
    assert np.all(scene.boxes.width > 0)


def test_branches_keep_their_frames() -> None:
    h = paddle.static.data("x", [2, 3])
    for _ in range(3):
        h = paddle.static.nn.cond(paddle.mean(h) > 0, lambda h=h: paddle.tanh(h), lambda h=h: paddle.square(h))
    scene = mirror(view(h.block.program))
    assert len([f for f in scene.frames if f.kind == "block"]) == 6
    assert faults(scene) == []
