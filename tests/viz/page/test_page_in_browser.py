"""The HTML page in a real browser: what people do with it, and that it loads nothing and takes every name for text."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gradtool import paddle
from gradtool.engine.core import source
from gradtool.engine.view import from_program
from gradtool.engine.view.graph import BACKWARD, FORWARD, OP, TENSOR, EdgeView, GraphView, NodeView
from gradtool.viz import colour
from gradtool.viz.details import Details, details
from gradtool.viz.mirror.layout import mirror
from gradtool.viz.picture import embed_page
from gradtool.viz.render import html
from tests.viz.accessibility import violations
from tests.viz.chromium import Browser, Page, browser
from tests.viz.models import Model

BOXES = "document.querySelectorAll('#stage .box').length"
TRANSFORM = "document.querySelector('#stage svg > g').getAttribute('transform')"


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    with browser() as process:
        yield process


class Opener:
    def __init__(self, chromium: Browser, folder: Path) -> None:
        self.chromium, self.folder = chromium, folder

    def __call__(self, view: GraphView, particulars: Details | None = None, **media: Any) -> Page:
        return self.text(html.render(mirror(view), details=particulars or Details()), **media)

    def text(self, text: str, **media: Any) -> Page:
        file = self.folder / "graph.html"
        file.write_text(text, encoding="utf-8")
        page = self.chromium.page(file, **media)
        page.settle()
        return page


@pytest.fixture
def opened(chromium: Browser, tmp_path: Path) -> Opener:
    """Opens the page of a view."""
    return Opener(chromium, tmp_path)


def network(blocks: int = 2, *, stacks: bool = False) -> tuple[GraphView, Details]:
    """Blocks of two layers each, and a loss."""
    with source.full_stacks(stacks):
        h = paddle.static.data("x", [None, 4])
        for i in range(blocks):
            with paddle.static.name_scope(f"block{i}"):
                with paddle.static.name_scope("attention"):
                    h = h + paddle.nn.functional.softmax(paddle.static.nn.fc(h, 4))
                with paddle.static.name_scope("mlp"):
                    h = h + paddle.tanh(paddle.static.nn.fc(h, 4))
        loss = paddle.mean(h)
        pairs = paddle.static.append_backward(loss)
    program = loss.block.program
    view = from_program.view(program, title="model.py", loss=loss, gradients=dict(pairs))
    values = {
        n.id: {"norm": 0.5, "elements": 16, "zeros": 3, "nonfinite": 0} for n in view.nodes if n.role == "gradient"
    }
    return view, details(view, [op.loc for b in program.blocks for op in b.ops], values)


def box(name: str) -> str:
    """A JavaScript expression for the box with this name."""
    return (
        "[...document.querySelectorAll('#stage .box')].find(b => "
        f"b.querySelector('.name').textContent.endsWith({json.dumps(' ' + name)}))"
    )


def names(page: Page, selector: str) -> list[str]:
    """The names of the boxes that a selector finds, sorted."""
    texts = page.run(
        f"[...document.querySelectorAll('#stage .box{selector} .name')].map(t => t.textContent.slice(2)).sort()"
    )
    return list(texts)


def text(page: Page, selector: str) -> str:
    return str(page.run(f"document.querySelector({json.dumps(selector)}).innerText"))


def test_it_opens_without_an_error_and_asks_for_nothing(opened: Opener) -> None:
    view, particulars = network()
    page = opened(view, particulars)
    assert page.problems() == []
    assert [r.rpartition("/")[2] for r in page.requests()] == ["graph.html"]
    assert text(page, "h1") == "forward and backward graph of model.py"
    assert page.run("document.title") == "forward and backward graph of model.py"
    assert page.run(BOXES) > 10
    assert "arrows follow the values" in text(page, "#legend")
    legend = page.run("[...document.querySelectorAll('#legend li')].map(e => e.textContent)")
    assert {"P parameter", "F forward operator", "forward value kept for backward"} <= set(legend)


def test_the_policy_lets_no_other_script_run_and_nothing_out(opened: Opener) -> None:
    page = opened(network()[0])
    page.run(
        "{ const s = document.createElement('script'); s.textContent = 'window.ran = 1'; document.body.append(s); }"
    )
    page.run("document.body.setAttribute('onclick', 'window.ran = 1'); document.body.click()")
    assert page.run("window.ran") is None
    assert page.run("fetch('https://example.com/').then(() => 'went', () => 'refused')") == "refused"
    page.run("{ const i = new Image(); i.src = 'https://example.com/a.png'; document.body.append(i); }")
    page.settle()
    assert [r for r in page.requests() if "example.com" in r and r not in page.refused()] == []


def test_search_goes_from_match_to_match(opened: Opener) -> None:
    page = opened(network(8)[0])
    page.key("/")
    assert page.run("document.activeElement.id") == "search"
    page.type("op:tanh_grad")
    assert text(page, "#found") == "8 found"
    page.key("Enter")
    assert text(page, "#found") == "1 of 8"
    assert text(page, "#panel h2") == "tanh_grad.7", "backward runs from below, people read from above"
    page.key("Enter")
    assert text(page, "#found") == "2 of 8"
    page.key("Escape")
    for _ in range(6):
        page.key("n")
    assert text(page, "#panel h2") == "tanh_grad.0"
    assert names(page, ".selected") == ["tanh_grad.0"]
    page.key("n")
    assert text(page, "#found") == "1 of 8"
    page.key("N")
    assert text(page, "#found") == "8 of 8"
    page.key("/")
    page.type("nothing like that")
    assert text(page, "#found") == "0 found"
    assert page.run("document.getElementById('later').disabled")
    assert page.problems() == []


def test_a_match_inside_a_collapsed_layer_is_expanded(opened: Opener) -> None:
    page = opened(network(4)[0])
    page.key("C")
    assert "tanh.2" not in names(page, "")
    page.key("/")
    page.type("name:tanh.2")
    page.key("Enter")
    assert names(page, ".selected") == ["tanh.2"]
    assert page.problems() == []


def test_layers_collapse_and_expand(opened: Opener) -> None:
    page = opened(network()[0], height=2000)
    before = names(page, "")
    high = page.run("document.querySelector('#stage svg > g').getBBox().height")
    page.press("[data-frame^='layer:block0'] .hit")
    after = names(page, "")
    assert "softmax.0" in before
    assert "softmax.0" not in after
    assert "softmax_grad.1" in before
    assert "softmax_grad.1" not in after
    assert any(n.startswith("block0") for n in after)
    assert page.run("document.querySelector('#stage svg > g').getBBox().height") < high
    assert "collapsed" in text(page, "#facts")
    page.key("c")
    assert names(page, "") == before
    page.key("C")
    assert len(names(page, "")) < len(after)
    page.key("E")
    assert names(page, "") == before
    page.run("document.querySelector(\"[data-frame^='layer:block1']\").focus()")
    page.key("Enter")
    assert any(n.startswith("block1") for n in names(page, ""))
    assert page.problems() == []


def test_no_box_covers_another_after_collapsing(opened: Opener) -> None:
    page = opened(network(3)[0])
    page.key("C")
    page.key("0")
    overlap = page.run(
        "(() => { const r = [...document.querySelectorAll('#stage .box')].map(b => b.getBoundingClientRect());"
        "let n = 0; r.forEach((a, i) => r.slice(i + 1).forEach(b => { if (a.left < b.right - 1 && b.left < a.right - 1"
        "&& a.top < b.bottom - 1 && b.top < a.bottom - 1) n++; })); return n; })()"
    )
    assert overlap == 0


def test_selection_shows_pair_source_stack_and_values(opened: Opener) -> None:
    view, particulars = network(stacks=True)
    page = opened(view, particulars, height=2000)
    page.click(*page.place(box("softmax.0")))
    assert names(page, ".selected") == ["softmax.0"]
    assert names(page, ".partner") == ["softmax_grad.1"]
    assert {"softmax.0", "softmax_grad.1", "elementwise_add.1", "reduce_mean.0"} <= set(names(page, ".lit"))
    assert page.run("document.querySelectorAll('#stage .edge.saved.lit').length") >= 1
    facts = text(page, "#facts")
    assert "block0/attention" in facts
    assert "test_page_in_browser.py" in facts
    assert "paddle.nn.functional.softmax(" in text(page, "#facts .here")
    assert "Called from" in facts
    page.press("#facts .link")
    assert text(page, "#panel h2") == "softmax_grad.1"
    assert "Differentiates" in text(page, "#facts")
    assert "backward operator" in page.run("document.getElementById('status').textContent")
    page.key("/")
    page.type("name:fc_0.w_0@grad")
    page.key("Enter")
    assert "0.5" in text(page, "#facts")
    assert "3 of 16" in text(page, "#facts")
    page.key("Escape")
    page.key("Escape")
    assert page.run("document.getElementById('panel').hidden")
    assert names(page, ".selected") == []
    assert page.problems() == []


def test_hover_lights_up_the_pair(opened: Opener) -> None:
    page = opened(network()[0])
    x, y = page.place(box("tanh.0"))
    page.mouse("mouseMoved", x, y)
    page.settle()
    assert names(page, ".partner") == ["tanh_grad.1"]
    page.mouse("mouseMoved", x, 795)
    page.settle()
    assert names(page, ".lit") == []


def test_keys_move_zoom_and_step(opened: Opener) -> None:
    page = opened(network(8)[0])
    page.key("E")
    page.settle()
    seen = [page.run(TRANSFORM)]
    for key in ("ArrowDown", "ArrowRight", "+", "-", "PageDown", "0", "Home"):
        page.key(key)
        now = page.run(TRANSFORM)
        assert now != seen[-1], key
        seen.append(now)
    assert seen[-1] == seen[0]
    page.key("j")
    first = text(page, "#panel h2")
    page.key("j")
    assert text(page, "#panel h2") != first
    page.key("k")
    assert text(page, "#panel h2") == first
    page.key("p")
    assert "_grad" in text(page, "#panel h2")
    page.key("?")
    assert page.run("document.getElementById('help').open")
    page.key("Escape")
    assert not page.run("document.getElementById('help').open")
    assert page.problems() == []


def test_wheel_drag_and_pinch(opened: Opener) -> None:
    page = opened(network(8)[0])

    def scale() -> float:
        return float(page.run(f"Number({TRANSFORM}.match(/scale\\((.*)\\)/)[1])"))

    before = scale()
    page.mouse("mouseWheel", 700, 400, deltaX=0, deltaY=-300)
    page.settle()
    assert scale() > before
    at = page.run(TRANSFORM)
    page.mouse("mousePressed", 700, 790, button="left", clickCount=1)
    for x, y in ((690, 760), (660, 700)):
        page.mouse("mouseMoved", x, y, button="left", buttons=1)
    page.mouse("mouseReleased", 660, 700, button="left", clickCount=1)
    page.settle()
    assert page.run(TRANSFORM) != at
    assert page.run("document.getElementById('panel').hidden"), "dragging selects nothing"
    page.send("Emulation.setTouchEmulationEnabled", enabled=True, maxTouchPoints=2)
    before = scale()
    for kind, apart in (("touchStart", 60), ("touchMove", 90), ("touchMove", 150)):
        points = [{"x": 700 - apart, "y": 400, "id": 0}, {"x": 700 + apart, "y": 400, "id": 1}]
        page.send("Input.dispatchTouchEvent", type=kind, touchPoints=points)
    page.send("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])
    page.settle()
    assert scale() > before
    assert page.problems() == []


def test_all_of_it_can_be_printed(opened: Opener) -> None:
    view, _ = network(8)
    page = opened(view)
    page.key("E")
    printed = page.printed()
    assert printed.startswith(b"%PDF-")
    assert printed.count(b"/Type /Page\n") > 1
    assert page.run("document.getElementById('pages').childElementCount") == 0
    page.run("dispatchEvent(new Event('beforeprint'))")
    keys = set(page.run("[...document.querySelectorAll('#pages .box')].map(b => b.dataset.key)"))
    assert keys == {b.node for b in mirror(view).boxes}
    page.run("dispatchEvent(new Event('afterprint'))")
    assert page.problems() == []


def test_it_follows_the_dark_scheme_and_the_button(opened: Opener) -> None:
    view, _ = network()
    ground = "getComputedStyle(document.body).backgroundColor"
    dark = opened(view, prefers_color_scheme="dark")
    black = dark.run(ground)
    dark.press("#theme")
    white = dark.run(ground)
    assert white != black
    light = opened(view, prefers_color_scheme="light")
    assert light.run(ground) == white
    light.key("d")
    assert light.run(ground) == black
    assert light.run(f"getComputedStyle({box('tanh.0')}.querySelector('path')).fill") == "rgb(86, 180, 233)"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_checker_of_accessibility_finds_nothing(scheme: str, opened: Opener) -> None:
    view, particulars = network()
    page = opened(view, particulars, prefers_color_scheme=scheme)
    assert violations(page) == []
    page.key("j")
    page.key("t")
    page.settle()
    assert violations(page) == []
    page.run("document.querySelector('#stage svg').setAttribute('role', 'img')")
    page.key("t")
    assert "nested-interactive" in "".join(violations(page)), "it looks"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_pressed_button_can_be_read_under_the_pointer(scheme: str, opened: Opener) -> None:
    page = opened(network()[0], prefers_color_scheme=scheme)
    x, y = page.place("document.querySelector('#as-table')")
    page.press("#as-table")
    page.mouse("mouseMoved", x, y)
    style = "getComputedStyle(document.querySelector('#as-table:hover'))"
    assert page.run(f"{style}.color") != page.run(f"{style}.backgroundColor")
    assert page.run(f"{style}.color") == page.run("getComputedStyle(document.body).backgroundColor")


def test_pale_boxes_are_dimmed_by_night(opened: Opener) -> None:
    shown = "getComputedStyle(document.querySelector('#legend [fill=\"{}\" i]')).fill"
    fills = [shown.format(fill) for fill in ("#FFFFFF", "#F0E442")]
    page = opened(network()[0], prefers_color_scheme="light")
    assert page.run(fills[0]) == "rgb(255, 255, 255)"
    page.key("d")
    for fill in fills:
        red, green, blue = (int(v) for v in page.run(fill)[4:-1].split(","))
        assert 130 < 0.2126 * red + 0.7152 * green + 0.0722 * blue < 190


def test_a_large_graph_begins_at_a_size_that_is_read(opened: Opener) -> None:
    page = opened(network(40)[0])
    page.key("E")
    page.settle()
    page.key("Home")
    page.settle()
    size = "document.querySelector('#stage .box .name').getBoundingClientRect().height"
    assert page.run(size) >= 10


def test_who_wants_no_motion_gets_none(opened: Opener) -> None:
    page = opened(network(8)[0], prefers_reduced_motion="reduce")
    moves = page.run(
        "new Promise(done => { const seen = new Set(); let n = 0;"
        f"const look = () => {{ seen.add({TRANSFORM}); if (++n === 20) done(seen.size);"
        "else requestAnimationFrame(look); };"
        "document.dispatchEvent(new KeyboardEvent('keydown', { key: '0' }));"
        "requestAnimationFrame(() => requestAnimationFrame(look)); })"
    )
    assert moves == 1
    assert page.run("getComputedStyle(document.querySelector('#stage .box')).transitionDuration") == "0s"


def test_the_table_says_the_same(opened: Opener) -> None:
    view, _ = network()
    page = opened(view)
    page.key("Tab")
    assert page.run("document.activeElement.id") == "skip"
    page.key("Enter")
    assert page.run("document.getElementById('stage').hidden")
    assert page.run("document.activeElement.id") == "table"
    rows = page.run("[...document.querySelectorAll('#table tbody tr')].map(r => [...r.cells].map(c => c.textContent))")
    assert len(rows) == len(mirror(view).boxes)
    row = next(r for r in rows if r[0] == "softmax.0")
    assert row[1:3] == ["forward operator", "softmax_grad.1"]
    assert row[6] == "block0/attention"
    assert page.run("[...document.querySelectorAll('#table thead th')].every(h => h.scope === 'col')")
    page.send("Accessibility.enable")
    tree = page.send("Accessibility.getFullAXTree")["nodes"]
    roles = [n["role"]["value"] for n in tree if not n["ignored"]]
    assert roles.count("table") == 1
    assert roles.count("rowheader") == len(rows)
    page.press("#table tbody .link")
    assert not page.run("document.getElementById('stage').hidden")
    assert page.run("document.getElementById('status').textContent.length") > 5
    assert page.problems() == []


def test_every_control_has_a_name(opened: Opener) -> None:
    page = opened(network()[0])
    page.key("j")
    page.send("Accessibility.enable")
    for node in page.send("Accessibility.getFullAXTree")["nodes"]:
        if not node["ignored"] and node["role"]["value"] in ("button", "searchbox", "link", "image", "application"):
            assert node["name"]["value"].strip(), node


def test_a_picture_far_away_is_painted_and_can_still_be_used(opened: Opener) -> None:
    view, _ = network(60)
    page = opened(view)
    assert 0 < page.run(BOXES) < len(mirror(view).boxes) / 4
    page.key("0")
    assert page.run("document.getElementById('stage').classList.contains('far')")
    assert page.run(BOXES) == 0
    painted = page.run(
        "(() => { const c = document.querySelector('canvas'); const d = c.getContext('2d').getImageData(0, 0, c.width,"
        "c.height).data; let n = 0; for (let i = 3; i < d.length; i += 4) if (d[i]) n++; return n; })()"
    )
    assert painted > 1000
    page.key("/")
    page.type("op:softmax")
    page.key("Enter")
    assert names(page, ".selected") == ["softmax.0"]
    assert page.problems() == []


HOSTILE = [
    "<script>window.ran = 1</script>",
    "</script><script>window.ran = 1</script>",
    "<img src=x onerror='window.ran = 1'>",
    "<!--<script>",
    "]]>",
    "{{data}}",
    "\"'`${window.ran = 1}",
    "\u2028\u2029\x00\x1b[31m\ud800",
    "__proto__",
    "x" * 10_000,
]


def hostile() -> tuple[GraphView, Details]:
    """A graph in which everything has an awkward name."""
    nodes, edges, stacks = [], [], {}
    for i, name in enumerate(HOSTILE):
        nodes.append(NodeView(f"op{i}", OP, name, name, "forward", FORWARD, source=f"{name}:1", scope=name))
        pair = f"op{i}"
        nodes.append(NodeView(f"op{i + 50}", OP, f"{name}@GRAD", name, "backward", BACKWARD, pair=pair, scope=name))
        nodes.append(NodeView(f"v{i}", TENSOR, name, name, "parameter", FORWARD, (2,), "float32", source=name))
        edges.append(EdgeView(f"v{i}", f"op{i}", f"v{i}", name))
        edges.append(EdgeView(f"v{i}", f"op{i + 50}", f"v{i}", name, saved=True))
        stacks[f"op{i}"] = ((name, 1, name),)
    particulars = Details(stacks, {name: {1: name} for name in HOSTILE}, {"v1": {"norm": float("nan")}})
    return GraphView(HOSTILE[1], tuple(nodes), tuple(edges)), particulars


def test_names_are_harmless(opened: Opener) -> None:
    view, particulars = hostile()
    page = opened(view, particulars, prefers_reduced_motion="reduce")
    assert page.run("document.querySelectorAll('script').length") == 2
    assert page.run(BOXES) > 0
    page.key("j")
    for _ in HOSTILE:
        page.key("p")
        page.key("p")
        page.key("j")
    page.key("C")
    page.key("E")
    page.key("t")
    shown = page.run("[...document.querySelectorAll('#table th button')].map(b => b.textContent)")
    assert {"</script><script>window.ran = 1</script>", "{{data}}", "__proto__", "x" * 10_000} <= set(shown)
    assert page.run("window.ran") is None
    assert page.run("document.querySelectorAll('script, img').length") == 2
    assert page.problems() == []
    assert len(page.requests()) == 1


def test_without_scripts_a_table_stands_in_for_the_picture(opened: Opener) -> None:
    view, particulars = network(40, stacks=True)
    page = opened(view, particulars)
    assert page.run("document.getElementById('static')") is None
    page.send("Emulation.setScriptExecutionDisabled", value=True)
    page.send("Page.reload")
    page.wait("document.readyState === 'complete' && document.getElementById('static') !== null")
    rows = page.run("[...document.querySelectorAll('#static tbody tr')].map(r => [...r.cells].map(c => c.textContent))")
    # The first block reads the data and not a block, so that it is not one of the repeated ones.
    assert next(r for r in rows if r[0] == "softmax.0")[1:3] == ["softmax_grad.39", "block0/attention"]
    row = next(r for r in rows if r[0] == "softmax.1 ×39")
    assert row[1:4] == ["softmax_grad.38 ×39", "block*/attention", "softmax_*.tmp_0"]
    assert row[4].startswith("test_page_in_browser.py:")
    shown = page.run(
        "[...document.querySelectorAll('body *')].filter(e => e.checkVisibility()).map(e => e.tagName.toLowerCase())"
    )
    assert "table" in shown
    assert not {"button", "input", "main", "svg", "canvas"} & set(shown)
    assert page.printed().startswith(b"%PDF-")
    assert page.problems() == []


def test_models_open_fold_and_are_searched(model: Model, opened: Opener) -> None:
    page = opened(model.view, model.details())
    assert page.problems() == []
    page.wait("performance.getEntriesByName('first-contentful-paint').length")
    far = page.run("Object.fromEntries(performance.getEntriesByType('paint').map(e => [e.name, e.startTime]))")
    assert "first-contentful-paint" in far
    layer, op = ("layer:blocks.7.attn", "op:softmax") if model.name == "gpt" else ("layer:layer3.5", "op:relu")
    page.key("/")
    page.type(f"{layer} {op}")
    count = 1 if model.name == "gpt" else 3
    assert text(page, "#found") == f"{2 * count} found"
    page.key("Enter")
    assert layer.partition(":")[2] in text(page, "#facts")
    assert "Called from" in text(page, "#facts")
    page.key("Escape")
    page.key("C")
    page.key("C" if model.name == "gpt" else "0")
    titles = set(page.run("[...document.querySelectorAll('#stage .box .name')].map(t => t.textContent)"))
    expected = {"⊞ blocks"} if model.name == "gpt" else {f"⊞ layer{i}" for i in range(1, 5)}
    assert expected <= titles
    page.key("E")
    page.key("t")
    assert text(page, "#table caption").endswith("in the order of the picture")
    assert page.problems() == []
    assert len(page.requests()) == 1


def test_collapsed_layers_keep_the_scale_of_colours(opened: Opener) -> None:
    view, particulars = network(3)
    values = {n.id: 10.0**i for i, n in enumerate(n for n in view.nodes if n.part == BACKWARD)}
    by = colour.colour_by_value(view, values, "norm", lambda v: f"{v:.3g}", filled=lambda n: n.part == BACKWARD)
    page = opened.text(html.render(mirror(view, notes=by.notes), details=particulars, colouring=by))
    page.key("C")
    fills = page.run(
        "[...document.querySelectorAll('#stage .box')].filter(b => b.querySelector('.name').textContent[0] === '⊞')"
        ".map(b => b.querySelector('rect').getAttribute('fill'))"
    )
    assert set(fills) <= {"#FFFFFF", *colour.STEPS}
    assert colour.STEPS[-1] in fills


def test_it_works_in_the_frame_of_a_notebook(opened: Opener) -> None:
    text = html.render(mirror(network()[0]))
    page = opened.text(f"<!doctype html><title>notebook</title><body>{embed_page(text)}</body>")
    page.wait("document.querySelector('iframe').contentWindow.length === 0")
    x, y = page.place("document.querySelector('iframe')")
    page.click(x, y)
    page.key("j")
    page.key("t")
    page.key("?")
    assert page.problems() == []


def test_an_empty_graph_is_an_empty_page(opened: Opener) -> None:
    page = opened(GraphView("nothing", (), ()))
    for key in ("j", "0", "C", "E", "t", "+", "p", "c", "n"):
        page.key(key)
    assert page.run(BOXES) == 0
    assert page.problems() == []
