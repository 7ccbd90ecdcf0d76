"""Two graphs as one picture: what it shows as added, removed and changed is what the comparison says."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from gradtool.engine.questions.diff import Diff, Differences
from gradtool.engine.request.request import Request
from gradtool.engine.view.graph import FORWARD, OP
from gradtool.viz.side_by_side import ADDED, CHANGED, LARGE, REMOVED, focus_changes, merge
from gradtool.viz.views.diff import picture
from tests.answers.diff.planted import drawn, planted


def compared(folder: Path, before: str, after: str) -> Differences:
    sides = []
    for name, text in (("before.py", before), ("after.py", after)):
        (folder / name).write_text(text, encoding="utf-8")
        sides.append(str(folder / name))
    return Diff(picture=True).ask(tuple(sides), Request(sides[1]))


@pytest.mark.parametrize("mode", ["static", "eager"])
@pytest.mark.parametrize("seed", range(8))
def test_the_picture_of_a_planted_change(seed: int, mode: str, tmp_path: Path) -> None:
    source = random.Random(seed)
    model = drawn(source)
    answer = compared(tmp_path, model.text(mode), planted(source, model).model.text(mode))
    assert answer.graphs is not None
    view, colouring = merge(*answer.graphs, answer.difference)
    nodes = view.by_id()
    assert len(nodes) == len(view.nodes)
    assert all({e.source, e.target, e.tensor} <= {*nodes} for e in view.edges)
    assert all(n.pair is None or n.pair in nodes for n in view.nodes)
    fates: dict[str, set[str]] = {ADDED: set(), REMOVED: set(), CHANGED: set()}
    for node, note in colouring.notes.items():
        if nodes[node].kind == OP and nodes[node].part == FORWARD:
            fates[note[2:]].add(nodes[node].name)
    matching = answer.difference.matching
    ours, theirs = matching.before, matching.after
    assert fates[REMOVED] == {
        op.name for n, op in enumerate(ours.operations[: ours.forward]) if n not in matching.operations
    }
    assert fates[ADDED] == {
        op.name for n, op in enumerate(theirs.operations[: theirs.forward]) if n not in matching.back
    }
    assert fates[CHANGED] or fates[ADDED] or fates[REMOVED] or answer.difference.changes[0].kind == "frozen"
    for form in ("svg", "html"):
        assert picture(answer, form) == picture(answer, form)


def test_what_is_the_same_has_no_colour(tmp_path: Path) -> None:
    text = drawn(random.Random(1)).text("eager")
    answer = compared(tmp_path, text, f"\n{text}")
    assert answer.graphs is not None
    view, colouring = merge(*answer.graphs, answer.difference)
    assert not colouring.fills
    assert (view.nodes, view.edges) == (answer.graphs[1].nodes, answer.graphs[1].edges)


def test_of_a_large_graph_what_is_near_a_change_is_drawn(tmp_path: Path) -> None:
    lines = ["import paddle", "x = paddle.create_parameter([2], 'float32')", "h = x", "for i in range(300):"]
    lines += ["    h = paddle.tanh(h)", "    if i == 150:", "        h = h EXTRA", "loss = h.sum()"]
    text = "\n".join(lines)
    answer = compared(tmp_path, text.replace("EXTRA", ""), text.replace("EXTRA", "* 2.0"))
    assert answer.graphs is not None
    view, colouring = merge(*answer.graphs, answer.difference)
    near = focus_changes(view, colouring)
    assert len(near.drawn()) < 20 < LARGE < len(view.drawn())
    assert {*colouring.fills} <= {n.id for n in near.nodes}
