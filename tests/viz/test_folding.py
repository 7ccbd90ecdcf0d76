"""Folded views: layers, repetitions, what is near, what lies between; and frames of blocks."""

from __future__ import annotations

from typing import Any

import pytest

from gradtool import paddle
from gradtool.engine.view import from_tape
from gradtool.engine.view.from_program import view
from gradtool.engine.view.graph import BACKWARD, FORWARD, OP, GraphView
from gradtool.paddle._dispatch import apply
from gradtool.viz import excerpt, fold
from gradtool.viz.mirror.layout import mirror
from tests.viz.geometry import faults


def blocks(times: int, mask: bool = False) -> tuple[Any, GraphView]:
    """A program of *times* equal blocks of five operators with a skip connection, between a start and an end."""
    x = paddle.static.data("x", [2, 3])
    shared = paddle.tanh(x) if mask else None
    h = paddle.scale(x, 2.0)
    for i in range(times):
        w = paddle.static.create_parameter([3, 3], "float32", name=f"block_{i}.w")
        part = paddle.nn.functional.relu(paddle.matmul(h, w))
        part = paddle.square(part) if shared is None else part * shared
        h = h + paddle.nn.functional.sigmoid(part)
    loss = paddle.mean(h)
    pairs = paddle.static.append_backward(loss)
    return loss, view(loss.block.program, loss=loss, gradients=dict(pairs))


@pytest.mark.parametrize("mask", [False, True])
def test_equal_blocks_are_drawn_once(mask: bool) -> None:
    _, whole = blocks(12, mask)
    folded = fold.fold_repetitions(whole)
    shown = {n.name: n for n in folded.drawn()}
    repeated = [n for n in folded.drawn() if n.kind == OP and n.part == FORWARD and n.count > 1]
    assert sorted((n.type, n.count) for n in repeated) == sorted(
        [
            ("matmul_v2", 12),
            ("relu", 12),
            ("elementwise_mul" if mask else "square", 12),
            ("sigmoid", 12),
            ("elementwise_add", 12),
        ]
    )
    weight, gradient = shown["block_*.w"], shown["block_*.w@GRAD"]
    assert (weight.count, gradient.count, gradient.pair) == (12, 12, weight.id)
    assert len(weight.members) == 12
    assert faults(mirror(folded)) == []


def test_pairs_stay_pairs_when_they_are_folded() -> None:
    _, whole = blocks(12)
    smaller = fold.fold_repetitions(whole)
    by_id = smaller.by_id()
    for n in smaller.drawn():
        if n.kind == OP and n.part == BACKWARD and n.pair is not None:
            assert by_id[n.pair].type == n.type.removesuffix("_grad")
            assert by_id[n.pair].count == n.count


def test_nothing_goes_from_one_repetition_to_the_next() -> None:
    _, whole = blocks(12)
    smaller = fold.fold_repetitions(whole)
    order = {n.id: i for i, n in enumerate(smaller.nodes)}
    flows = [e for e in smaller.edges if e.source.startswith("op") and e.target.startswith("op")]
    assert all(order[e.source] < order[e.target] for e in flows)


def test_blocks_of_other_wiring_or_type_are_not_equal() -> None:
    x = h = paddle.static.data("x", [2, 3])
    for i in range(12):
        g = paddle.tanh(h)
        h = paddle.tanh(g) if i % 5 < 3 else paddle.square(g)
        h = h + (g if i % 3 else x)
    assert all(n.count == 1 for n in fold.fold_repetitions(view(h.block.program)).nodes)


def test_two_small_blocks_stay_as_they_are() -> None:
    x = paddle.static.data("x", [2, 3])
    h = paddle.square(paddle.tanh(paddle.square(paddle.tanh(x))))
    whole = view(h.block.program)
    assert fold.fold_repetitions(whole) is whole


def test_a_chain_of_one_operator_is_two_boxes() -> None:
    """The first reads data, the others what the one before made."""
    h = paddle.static.data("x", [2, 3])
    for _ in range(1_000):
        h = paddle.tanh(h)
    smaller = fold.automatic(view(h.block.program))
    assert [(n.type, n.count) for n in smaller.drawn() if n.kind == OP] == [("tanh", 1), ("tanh", 999)]


def test_layers_are_folded_with_their_parameters() -> None:
    paddle.disable_static()
    try:
        model = paddle.nn.Sequential(
            paddle.nn.Sequential(paddle.nn.Linear(4, 3), paddle.nn.ReLU(), paddle.nn.Linear(3, 3)),
            paddle.nn.Linear(3, 1),
        )
        whole = from_tape.view([model(paddle.ones([2, 4])).mean()])
    finally:
        paddle.enable_static()
    inner = fold.layers(whole)
    outer = fold.layers(whole, max_nodes=12)
    assert len(whole.drawn()) > len(inner.drawn()) > len(outer.drawn())
    first = next(n for n in outer.nodes if n.name == "0")
    assert {n.type for n in whole.nodes if n.id in first.members} >= {"relu"}
    gradient = next(n for n in outer.nodes if n.name == "0 gradient")
    assert gradient.pair == first.id
    weights = [n for n in outer.drawn() if n.role == "parameter"]
    assert [len(n.members) for n in weights] == [4, 2]
    assert faults(mirror(outer)) == []


def test_what_has_no_layers_is_folded_in_equal_parts() -> None:
    h = paddle.static.data("x", [2, 3])
    kinds = [paddle.tanh, paddle.square, paddle.abs, paddle.exp, paddle.sin]
    for i in range(400):
        h = kinds[(i * i // 7 + i // 11) % 5](h)
    whole = view(h.block.program)
    smaller = fold.automatic(whole, 60)
    assert len(smaller.drawn()) <= 60
    members = [i for n in smaller.nodes for i in (n.members or (n.id,)) if n.kind == OP]
    assert sorted(members) == sorted(n.id for n in whole.nodes if n.kind == OP)


def test_nothing_is_folded_without_need() -> None:
    _, whole = blocks(3)
    assert fold.automatic(whole) is whole
    assert fold.fold(whole, "none", 1) is whole


def test_focus_takes_what_is_near() -> None:
    _, whole = blocks(4)
    weight = next(n for n in whole.nodes if n.name == "block_2.w")
    names = {n.name for n in excerpt.focus(whole, [weight.id], 1).drawn()}
    assert {"block_2.w", "matmul_v2.2", "matmul_v2_grad.1"} <= names
    assert "matmul_v2.1" not in names
    assert {n.name for n in excerpt.focus(whole, [weight.id], 0).drawn()} == {"block_2.w"}
    wide = excerpt.focus(whole, [weight.id], 100)
    assert len(wide.drawn()) == len(whole.drawn())


def test_path_takes_what_lies_between() -> None:
    loss, whole = blocks(2)
    ids = {n.name: n.id for n in whole.nodes}
    between = {n.name for n in excerpt.path(whole, [ids["block_1.w"]], [ids[loss.name]]).drawn()}
    assert between == {
        "block_1.w",
        "matmul_v2.1",
        "relu.1",
        "square.1",
        "sigmoid.1",
        "elementwise_add.1",
        "reduce_mean.0",
        loss.name,
    }
    assert excerpt.path(whole, [ids[loss.name]], [ids["x"]]).nodes == ()


def test_folding_costs_in_proportion_to_the_program() -> None:
    """Twenty thousand operators in two kinds of order; a quadratic pass would take minutes."""
    x = h = paddle.static.data("x", [2, 3])
    for i in range(10_000):
        h = apply(("tanh", "square", "sin")[i * i % 3], h)
    parts = [apply("tanh", x) for _ in range(10_000)]
    apply("sum", [*parts, h])
    smaller = fold.automatic(view(x.block.program))
    assert len(smaller.drawn()) <= fold.MAX_NODES


def test_sums_of_gradients_are_folded_with_the_layer_that_they_belong_to() -> None:
    """What two collapsed layers read has two gradients; their sum is no row of its own."""
    x = paddle.static.data("x", [2, 3])
    start = paddle.tanh(x)
    start.stop_gradient = False
    with paddle.static.name_scope("first"):
        a = paddle.square(paddle.tanh(start))
    with paddle.static.name_scope("second"):
        b = paddle.square(paddle.sin(start) + a)
    w = paddle.static.create_parameter([2, 3], "float32", name="shared.w")
    with paddle.static.name_scope("third"):
        c = paddle.abs(b * w)
    with paddle.static.name_scope("fourth"):
        d = paddle.abs(c * w)
    loss = paddle.mean(d)
    paddle.static.append_backward(loss, parameter_list=[start, w])
    whole = view(loss.block.program, loss=loss)
    sums = [n.id for n in whole.nodes if n.type == "sum" and n.part == BACKWARD]
    assert len(sums) == 2
    smaller = fold.layers(whole)
    assert [n.name for n in smaller.nodes if n.id in sums and not n.members] == []
    within = {i: n.name for n in smaller.nodes for i in n.members if i in sums}
    # Backward reaches the first reader last, and adds up there.
    assert sorted(within.values()) == ["first gradient", "third gradient"]
    assert faults(mirror(smaller)) == []
    between = [e for e in smaller.edges if e.target == next(n.id for n in smaller.nodes if n.name == "first gradient")]
    assert {e.source for e in between} >= {n.id for n in smaller.nodes if n.name == "second gradient"}


def test_sums_in_repetitions_stay_in_their_repetition() -> None:
    _, whole = blocks(12)
    smaller = fold.fold_repetitions(whole)
    sums = [n for n in smaller.drawn() if n.type == "sum" and n.part == BACKWARD]
    assert [n.count for n in sums if n.count > 1]
    assert sum(n.count for n in sums) == sum(n.type == "sum" for n in whole.nodes if n.kind == OP)
