"""SVG pictures: well-formed, escaped, told by more than colour, and the same as what ``neato`` draws."""

from __future__ import annotations

import math
import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from gradtool import paddle
from gradtool.engine.view.from_program import view
from gradtool.engine.view.graph import BACKWARD, BOTH, FORWARD, GraphView
from gradtool.viz import colour, external
from gradtool.viz.legend import FLOW
from gradtool.viz.mirror.layout import mirror
from gradtool.viz.mirror.scene import Scene
from gradtool.viz.render import dot, svg
from tests.programs import system_program

NAMES = ["<script>alert(1)</script>", "a&b", '"', "]]>", "--", "tab\t", "zero\0", "\ud800", "好" * 40, "x" * 10_000]
SPACE = "{http://www.w3.org/2000/svg}"


def graph(name: str = "w", title: str = "model.py") -> GraphView:
    x = paddle.static.data("x", [None, 2])
    w = paddle.static.create_parameter([2, 2], "float32", name=name)
    loss = paddle.mean(paddle.tanh(paddle.matmul(x, w)))
    pairs = paddle.static.append_backward(loss)
    return view(loss.block.program, title=title, loss=loss, gradients=dict(pairs))


@pytest.mark.parametrize("name", NAMES, ids=lambda n: ascii(n[:12]))
def test_names_are_text_whatever_they_are(name: str) -> None:
    text = svg.render(mirror(graph(name, title=name)), command=f"gradtool graph {name}")
    root = ElementTree.fromstring(text.encode("utf-8"))
    assert {e.tag.removeprefix(SPACE) for e in root.iter() if isinstance(e.tag, str)} <= {
        "svg", "title", "desc", "style", "defs", "metadata", "marker", "rect", "g", "path", "text"
    }  # fmt: skip
    assert len(text) < 120_000


def test_every_box_and_line_says_what_it_is() -> None:
    shown = graph()
    root = ElementTree.fromstring(svg.render(mirror(shown)))
    boxes = {e.get("id"): e for e in root.iter(f"{SPACE}g") if e.get("id")}
    assert set(boxes) == {n.id for n in shown.drawn()}
    titles = {i: e.findtext(f"{SPACE}title") for i, e in boxes.items()}
    by_name = {n.name: n for n in shown.nodes}
    told = titles[by_name["matmul_v2_grad.0"].id]
    assert told is not None
    assert told.splitlines()[:2] == ["matmul_v2_grad.0", f"backward operator {by_name['matmul_v2_grad.0'].id}"]
    assert "belongs to matmul_v2.0" in told
    lines = [
        e for e in root.iter(f"{SPACE}path") if "e " in (e.get("class") or "") and e.find(f"{SPACE}title") is not None
    ]
    assert len(lines) == len(shown.edges)


@pytest.mark.parametrize("part", [FORWARD, BACKWARD, BOTH])
def test_the_legend_says_what_is_there_and_which_way_arrows_point(part: str) -> None:
    text = svg.render(mirror(graph().only(part)))
    assert f">{FLOW[part]}<" in text
    assert (">backward operator<" in text) == (part != FORWARD)
    assert (">forward value kept for backward<" in text) == (part == BOTH)


def test_light_and_dark_readers_are_both_served() -> None:
    text = svg.render(mirror(graph()))
    assert "@media (prefers-color-scheme:dark)" in text
    assert "http" not in text.replace("http://www.w3.org/2000/svg", "")


def test_an_empty_view_is_an_empty_picture() -> None:
    scene = mirror(GraphView("nothing", (), ()))
    ElementTree.fromstring(svg.render(scene))
    assert dot.render(scene).endswith("}\n")


def test_colours_by_value_say_the_value_too() -> None:
    shown = graph()
    ids = [n.id for n in shown.drawn()]
    values = {ids[0]: 1e-6, ids[1]: 1.0, ids[2]: 1e6, ids[3]: math.nan, ids[4]: 0.0}
    colouring = colour.colour_by_value(shown, values, "norm", lambda v: f"{v:.3g}")
    assert colouring.fills[ids[0]] == colour.STEPS[0] != colouring.fills[ids[2]]
    assert colouring.fills[ids[3]] not in colour.STEPS
    assert colouring.fills[ids[4]] == colour.STEPS[0]
    assert [t for t, _ in colouring.entries][-1] == "not finite"
    text = svg.render(mirror(shown, notes=colouring.notes), colouring=colouring)
    assert ">1e+06 · " in text
    assert "colour: norm" in text
    for kinds in (colour.colour_by_dtype(shown), colour.colour_by_layer(shown)):
        ElementTree.fromstring(svg.render(mirror(shown, notes=kinds.notes), colouring=kinds))


def positions(text: str) -> dict[str, tuple[float, float]]:
    matches = re.findall(r'^\t(\w+) \[.*?pos="([-\d.]+),([-\d.]+)!', text, re.MULTILINE)
    return {i: (float(x), float(y)) for i, x, y in matches}


def middles(scene: Scene) -> dict[str, tuple[float, float]]:
    return {b.node: (b.x + b.width / 2, -b.y - b.height / 2) for b in scene.boxes}


def test_dot_has_the_places_of_the_scene() -> None:
    scene = mirror(graph())
    places = positions(dot.render(scene))
    for node, (x, y) in middles(scene).items():
        assert places[node] == pytest.approx((x, y), abs=0.01)


def test_neato_draws_the_places_that_it_was_given() -> None:
    scene = mirror(graph())
    text = dot.render(scene)
    done = subprocess.run(
        [system_program("neato"), "-n2", "-Tplain"], input=text.encode(), capture_output=True, check=True
    )
    nodes = [line.split(b" ") for line in done.stdout.splitlines() if line.startswith(b"node ")]
    drawn = {n[1].decode(): (float(n[2]) * 72, float(n[3]) * 72) for n in nodes}
    places = middles(scene)
    first = next(iter(places))
    for node, (x, y) in places.items():
        assert drawn[node][0] - drawn[first][0] == pytest.approx(x - places[first][0], abs=0.1)
        assert drawn[node][1] - drawn[first][1] == pytest.approx(y - places[first][1], abs=0.1)
    for form, start in (("png", b"\x89PNG"), ("pdf", b"%PDF")):
        assert external.draw(text, form).startswith(start)


NODE = re.compile(
    rb'<g id="node\d+" class="node">\s*<title>(\w+)</title>\s*<[^>]*?(?:points|d)="([-\d., MC]+)', re.DOTALL
)


def test_the_library_draws_what_the_program_draws(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    text = dot.render(mirror(graph()))
    system_program("neato")
    drawn = dict(NODE.findall(external.draw(text, "svg")))
    monkeypatch.setenv("PATH", str(tmp_path))
    again = dict(NODE.findall(external.draw(text, "svg")))
    assert len(again) > 10
    assert again.keys() == drawn.keys()
    for node, outline in again.items():
        places = [[float(n) for n in re.findall(rb"-?[\d.]+", points)] for points in (outline, drawn[node])]
        assert places[0] == pytest.approx(places[1], abs=1.0), node
    for form, start in (("png", b"\x89PNG"), ("pdf", b"%PDF")):
        assert external.draw(text, form).startswith(start)
        assert external.draw(text, form, program="dot").startswith(start)


def test_the_library_is_ended_and_fails_like_the_program(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(external.GraphvizTimeout, match=r"dot did not finish in 0\.001 s"):
        external.draw("digraph { a -> b }", "svg", program="dot", seconds=0.001)
    with pytest.raises(external.GraphvizError, match="neato failed: "):
        external.draw("digraph {", "svg")


def test_without_graphviz_it_is_said_what_to_install(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setitem(sys.modules, "pygraphviz", None)
    with pytest.raises(external.GraphvizError, match="neither a program 'neato' nor the package pygraphviz") as raised:
        external.draw("digraph {}", "png")
    assert "pip install 'gradtool[render]'" in str(raised.value.hint)
