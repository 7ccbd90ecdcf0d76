"""Long pages without layers, or with hundreds of them side by side, have parts to be opened one by one."""

from __future__ import annotations

from contextlib import nullcontext

from gradtool import paddle
from gradtool.engine.view import from_program
from gradtool.engine.view.graph import GraphView
from gradtool.viz.details import Details
from gradtool.viz.mirror.layout import mirror
from gradtool.viz.render import embedded
from gradtool.viz.stretches import LEAST, MOST, PARTS, stretches


def chain(blocks: int, *, layers: bool = False) -> GraphView:
    """So many blocks of three operators, each in a layer of its own or none in any."""
    with paddle.static.program_guard(program := paddle.static.Program()):
        x = paddle.static.data("x", [2])
        for i in range(blocks):
            with paddle.static.name_scope(f"block{i}") if layers else nullcontext():
                x = paddle.exp(paddle.tanh(x * 2.0))
        paddle.mean(x)
    return from_program.view(program, title="model.py")


def test_few_rows_are_looked_through_as_they_are() -> None:
    assert stretches(mirror(chain(MOST // 3 - 1)), []) == []


def test_parts_cover_a_long_chain_and_begin_where_blocks_begin() -> None:
    view = chain(800)
    parts = stretches(mirror(view), [])
    assert len(parts) <= PARTS + 1
    assert parts[0].first == 0
    assert [p.first for p in parts[1:]] == [p.last + 1 for p in parts[:-1]]
    assert {(p.last + 1 - p.first) % 3 for p in parts[:-1]} == {0}
    assert {p.title.partition(".")[0] for p in parts[:-1]} == {"scale"}


def test_layers_side_by_side_are_put_together_and_named_by_the_first_and_the_last() -> None:
    frames = [(3 * i, 3 * i + 2, f"blocks.{i}") for i in range(400)]
    parts = stretches(mirror(chain(400)), [(0, 1199, "blocks"), *frames])
    assert parts[0].title == f"blocks.0…{LEAST - 1}"
    assert (parts[0].first, parts[0].last) == (0, 3 * LEAST - 1)
    assert parts[-1].last == 1199


def test_very_long_chains_have_parts_of_parts() -> None:
    scene = mirror(chain(4000))
    parts = stretches(scene, [])
    inner = [p for p in parts if any(q.first <= p.first and p.last <= q.last and q is not p for q in parts)]
    outer = [p for p in parts if p not in inner]
    assert len(outer) <= PARTS + 1
    assert max(p.last - p.first for p in inner) < MOST


def test_the_page_has_them_beside_its_layers() -> None:
    kinds = [f[1] for f in embedded.data(mirror(chain(100, layers=True)), Details(), None)["frames"]]
    assert kinds.count("layer") == 100
    assert kinds.count("stretch") == 0
    data = embedded.data(mirror(chain(200, layers=True)), Details(), None)
    assert [f[1] for f in data["frames"]].count("stretch") == 25
