"""What the page embeds: packed in Python, read by the page's own script, it is the scene again."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gradtool.engine.view.graph import BACKWARD, OP, GraphView
from gradtool.viz.details import Details
from gradtool.viz.mirror.layout import mirror
from gradtool.viz.mirror.scene import KINDS, Scene
from gradtool.viz.render import embedded
from gradtool.viz.style import role_of
from gradtool.viz.text import printable
from tests.viz.models import Model
from tests.viz.page.test_page_in_browser import hostile, network
from tests.viz.pages import decoded


def same(scene: Scene, details: Details) -> None:
    """Fail where what the script reads is not what the scene has."""
    view = scene.view
    data = decoded(embedded.embed(embedded.data(scene, details, None)))
    by_id = view.by_id()
    for n in data["nodes"]:
        of = by_id[n["id"]]
        for fact in ("name", "source", "scope", "spec"):
            assert n[fact] == printable(getattr(of, fact)), (n["id"], fact)
        assert (n["type"], n["role"], n["operator"]) == (of.type, role_of(of), of.kind == OP)
        assert (n["backward"], n["loss"]) == (of.part == BACKWARD, of.role == "loss")
        assert n["pair"] in (of.pair, None)
        stack = details.stacks.get(n["id"])
        assert n["stack"] == (None if stack is None else [list(call) for call in stack])
    ids = {n["id"] for n in data["nodes"]}
    assert ids >= {n.id for n in view.drawn()}
    assert {n["id"]: n["pair"] for n in data["nodes"] if by_id[n["id"]].pair in ids} == {
        i: by_id[i].pair for i in ids if by_id[i].pair in ids
    }

    boxes = sorted(scene.boxes, key=lambda b: (round(b.y, 1), round(b.x, 1)))
    assert [b["node"] for b in data["boxes"]] == [b.node for b in boxes]
    for read, box in zip(data["boxes"], boxes, strict=True):
        assert read["place"] == pytest.approx([box.x, box.y, box.width, box.height], abs=0.051)
        assert (read["row"], read["column"]) == (box.row, box.column)
        assert read["lines"] == [line for line in box.lines if line]

    for read, route in zip(data["edges"], scene.routes, strict=True):
        edge = view.edges[route.edge]
        assert read["ends"] == [edge.source, edge.target, edge.tensor]
        assert (read["slot"], read["kind"]) == (edge.slot, KINDS.index(route.kind))
        points = [route.points[0]]
        points += [p for before, p in zip(route.points, route.points[1:], strict=False) if p != before]
        assert [c for p in read["points"] for c in p] == pytest.approx([c for p in points for c in p], abs=0.051)
        if route.label is None:
            assert read["label"] is None
        else:
            text, x, y, anchor = read["label"]
            assert (text, anchor) == (route.label.text, route.label.anchor)
            assert (x, y) == pytest.approx((route.label.x, route.label.y), abs=0.051)


def test_a_small_graph_is_read_as_it_was() -> None:
    view, details = network(3, stacks=True)
    same(mirror(view), details)


def test_awkward_names_are_read_as_they_were() -> None:
    view, details = hostile()
    same(mirror(view), details)


def test_a_model_is_read_as_it_was(model: Model) -> None:
    same(mirror(model.view), model.details())


def test_an_empty_graph_is_read_as_it_was() -> None:
    data = embedded.embed(embedded.data(mirror(GraphView("nothing", (), ())), Details(), None))
    assert decoded(data) == {"nodes": [], "boxes": [], "edges": []}


def unpacked(text: str) -> list[float]:
    """The same as ``unpacked`` of ``graph.mjs``, written once more."""
    steps, numbers = text.startswith("~"), list[float]()
    for run in text.removeprefix("~").split():
        value, _, times = run.partition("*")
        for _ in range(int(times or 1)):
            numbers.append(round(numbers[-1] + float(value), 1) if steps and numbers else float(value))
    return numbers


@settings(max_examples=200)
@given(st.lists(st.one_of(st.integers(-5, 5), st.integers(-(10**6), 10**6).map(lambda n: n / 10))))
def test_columns_come_back(column: list[float]) -> None:
    text = embedded.pack(column)
    assert unpacked(text) == column
    if column:
        runs = embedded._Runs(embedded._tenths(column))
        assert len(runs) == len(str(runs))


def test_columns_are_told_in_what_is_shorter() -> None:
    assert embedded.pack([]) == ""
    assert embedded.pack([3, 1, 1, 1, 1, 1]) == "3 1*5"
    assert embedded.pack([10, 11, 12, 13, 14]) == "~10 1*4"
    assert embedded.pack([0.1, 0.2, 0.3]) == "~0.1*3"
