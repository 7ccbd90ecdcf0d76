"""The graph as JSON, as Mermaid text, for a terminal, and what an HTML page is made of."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from gradtool import paddle
from gradtool.engine.core import source
from gradtool.engine.view import from_program
from gradtool.engine.view.graph import BACKWARD, FORWARD, OP, TENSOR, EdgeView, GraphView, NodeView
from gradtool.viz import details as facts
from gradtool.viz.layers import LayerRows, layers
from gradtool.viz.mirror.layout import mirror
from gradtool.viz.render import html, mermaid, text
from gradtool.viz.render import json as as_json

ROOT = Path(__file__).parents[3]
SCHEMA = json.loads((ROOT / "cli/schemas/graph.json").read_text())
AWKWARD = [
    'quo"te',
    "<b>",
    "a|b",
    "`x`",
    "#35;",
    "semi;colon",
    "sub[0]{1}(2)",
    "line\nbreak",
    "end",
    "ünï→",
    "y" * 5000,
]


def chain() -> GraphView:
    x = paddle.static.data("x", [None, 3])
    h = paddle.static.nn.fc(x, 2, name="body")
    loss = paddle.mean(h + paddle.tanh(h))
    pairs = paddle.static.append_backward(loss)
    return from_program.view(loss.block.program, title="model.py", loss=loss, gradients=dict(pairs))


def awkward() -> GraphView:
    nodes, edges = [], []
    for i, name in enumerate(AWKWARD):
        nodes.append(NodeView(f"op{i}", OP, name, name, "forward", FORWARD, source=name, scope=name))
        nodes.append(NodeView(f"v{i}", TENSOR, name, name, "temporary", FORWARD, (2,), "float32"))
        if i:
            edges.append(EdgeView(f"op{i - 1}", f"op{i}", f"v{i - 1}", "X"))
    return GraphView("\n".join(AWKWARD), tuple(nodes), tuple(edges))


# -- JSON -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("view", [chain, awkward, lambda: GraphView("", (), ()), lambda: chain().only(BACKWARD)])
def test_json_fits_its_schema(view: Any) -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    shown = view()
    output = as_json.render(shown)
    assert output == as_json.render(shown)
    assert output.isascii()
    jsonschema.validate(json.loads(output), SCHEMA)


def test_json_holds_the_whole_view() -> None:
    view = chain()
    document = json.loads(as_json.render(view))
    assert [n["id"] for n in document["nodes"]] == [n.id for n in view.nodes]
    by_name = {n["name"]: n for n in document["nodes"]}
    grad = by_name["tanh_grad.0"]
    assert (grad["pair"], grad["part"], grad["shape"]) == (by_name["tanh.0"]["id"], "backward", None)
    assert by_name["x"]["shape"] == [-1, 3]
    assert by_name["tanh.0"]["source"].startswith("test_graph_formats.py:")
    assert [(e["source"], e["target"], e["saved"]) for e in document["edges"]] == [
        (e.source, e.target, e.saved) for e in view.edges
    ]


def test_json_knows_every_role() -> None:
    from gradtool.engine.view.graph import MARKS
    from gradtool.viz.style import ROLES

    node = SCHEMA["properties"]["nodes"]["items"]["properties"]
    assert {*MARKS, None} == set(node["mark"]["enum"])
    assert set(ROLES) - {*MARKS} == set(node["role"]["enum"])


# -- Mermaid ----------------------------------------------------------------------------------------------------------

NODE = re.compile(
    r'(?:op|v)\d+(?:\["|\[/"|\[\("|\[\["|\{\{"|\(\["|\(")(?P<label>[^"]*)(?:"\]|"/\]|"\)\]|"\]\]|"\}\}|"\)\]|"\))'
)
EDGE = re.compile(r'(?:op|v)\d+ (?:-->|-\.->)(?:\|"(?P<label>[^"]*)"\|)? (?:op|v)\d+')
OTHER = re.compile(r'%% .*|flowchart TB|subgraph scope\d+\["(?P<label>[^"]*)"\]|end|classDef .*|class .*')
LABEL = re.compile(r"(?:[\w .,·…/+-]|#\d+;|<br/>)*")


@pytest.mark.parametrize("view", [chain, awkward])
def test_mermaid_lines_are_of_the_known_forms_and_labels_hold_nothing_that_means_something(view: Any) -> None:
    for line in mermaid.render(view()).splitlines():
        match = next((m for m in (p.fullmatch(line.strip()) for p in (NODE, EDGE, OTHER)) if m), None)
        assert match is not None, line
        label = match["label"]
        assert label is None or LABEL.fullmatch(label), line


def test_mermaid_draws_pairs_scopes_and_saved_values() -> None:
    with paddle.static.name_scope("encoder"):
        x = paddle.static.data("x", [None, 3])
        loss = paddle.mean(paddle.tanh(paddle.static.nn.fc(x, 2, name="body")))
    paddle.static.append_backward(loss)
    diagram = mermaid.render(from_program.view(loss.block.program, loss=loss))
    assert 'subgraph scope0["encoder · forward"]' in diagram
    assert re.search(r'op2 -\.->\|"tanh_0\.tmp_0"\| op\d+', diagram)
    assert "classDef parameter fill:#E69F00" in diagram


def test_mermaid_says_when_it_is_more_than_is_drawn_by_default() -> None:
    assert mermaid.notes(chain()) == []
    nodes = tuple(NodeView(f"op{i}", OP, f"relu.{i}", "relu", "forward", FORWARD) for i in range(900))
    tensors = tuple(NodeView(f"v{i}", TENSOR, f"t{i}", "", "temporary", FORWARD, (), "float32") for i in range(900))
    edges = tuple(EdgeView(f"op{i}", f"op{i + 1}", f"v{i}") for i in range(899))
    view = GraphView("", nodes + tensors, edges)
    notes = mermaid.notes(view)
    size = len(mermaid.render(view)) - sum(len(f"%% {n}\n") for n in notes)
    assert [n.split(":")[0] for n in notes] == ["899 edges", f"{size} characters"]
    assert mermaid.render(view).startswith(f"%% {notes[0]}\n%% {notes[1]}\n")


# -- the terminal -----------------------------------------------------------------------------------------------------


def test_text_puts_pairs_on_one_row_with_lines_beside_them() -> None:
    lines = text.render(chain()).splitlines()
    assert lines[0] == "forward and backward graph of model.py"
    row = next(line for line in lines if " = tanh(" in line)
    assert re.search(
        r"▶  tanh_0\.tmp_0 float32\[-1, 2\] = tanh\(body\.tmp_1\) +tanh_0\.tmp_0 +↔  "
        r"body\.tmp_1@GRAD@RENAME@block0@1 = tanh_grad\(tanh_0\.tmp_0@GRAD; tanh_0\.tmp_0\) +",
        row,
    )
    assert lines[-1] == "5 of 5 forward ops have a gradient op"


def test_text_draws_who_feeds_whom() -> None:
    drawn = text.render(chain()).splitlines()[2:7]
    # mul → add; that add → tanh and add; tanh → add; add → mean
    assert [line[:4] for line in drawn] == ["  ╭─", " ╭┴▶", " ├┬▶", "╭┴┴▶", "╰──▶"]


def test_text_in_ascii_keeps_its_columns() -> None:
    lines = text.render(chain(), ascii=True).splitlines()
    assert all(line.isascii() for line in lines)
    assert len({line.index("<->") for line in lines if "<->" in line}) == 1
    assert text.render(awkward(), ascii=True).isascii()


def test_text_has_one_line_per_row_whatever_names_hold() -> None:
    assert len(text.render(awkward()).split("\n")) == len(AWKWARD) + 4


def test_text_of_a_large_graph_has_no_lines_and_says_so() -> None:
    h = paddle.static.data("x", [4])
    for _ in range(text.MOST_ROWS + 1):
        h = paddle.tanh(h)
    drawing = text.render(from_program.view(h.block.program))
    assert "▶" not in drawing
    assert drawing.endswith(" · too large for lines between them\n")


def test_text_lists_backward_operators_without_a_forward_one() -> None:
    rows = text.table(chain())[1]
    assert [r[3] for r in rows if not r[0]] == [
        "mean_0.tmp_0@GRAD = fill_constant()",
        "body.tmp_1@GRAD = sum(body.tmp_1@GRAD@RENAME@block0@0, body.tmp_1@GRAD@RENAME@block0@1)",
    ]


# -- the page ---------------------------------------------------------------------------------------------------------


def test_the_page_is_the_same_every_time_and_holds_no_place_of_this_machine() -> None:
    with source.full_stacks():
        view = chain()
    details = facts.details(view, [op.loc for op in paddle.static.default_main_program().global_block().ops])
    page = html.render(mirror(view), details=details)
    assert page == html.render(mirror(view), details=details)
    assert str(ROOT) not in page
    assert "test_graph_formats.py" in page


def test_the_page_allows_its_own_script_and_style_and_nothing_else() -> None:
    page = html.render(mirror(chain()))
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)
    assert policy is not None
    rules = dict(rule.strip().split(" ", 1) for rule in policy[1].split(";"))
    assert rules.keys() == {"default-src", "script-src", "style-src", "base-uri", "form-action"}
    assert rules["default-src"] == "'none'"
    assert re.fullmatch(r"'sha256-[\w+/=]{44}'", rules["script-src"])
    assert re.fullmatch(r"'sha256-[\w+/=]{44}'", rules["style-src"])


def test_nothing_in_the_data_can_end_its_block() -> None:
    data = {"<!--": "</script>", "a": ["<script>", "&lt;", "\u2028", "\ud800", "]]>"]}
    block = html.embed(data)
    assert not re.search("[<>&\u2028\ud800]", block)
    assert json.loads(block) == data


def test_a_page_of_seven_hundred_nodes_stays_small() -> None:
    h = paddle.static.data("x", [None, 16])
    for i in range(50):
        with paddle.static.name_scope(f"block{i}"):
            h = h + paddle.nn.functional.relu(paddle.static.nn.fc(h, 16))
    loss = paddle.mean(h)
    pairs = paddle.static.append_backward(loss)
    view = from_program.view(loss.block.program, title="model.py", loss=loss, gradients=dict(pairs))
    scene = mirror(view)
    assert 650 < len(scene.boxes) < 750
    details = facts.details(view, [op.loc for op in loss.block.ops])
    assert len(html.render(scene, details=details).encode()) < 250_000


def test_layers_are_runs_of_rows_with_what_stands_between_them() -> None:
    scopes = ["a.0.fc", "a.0.fc", "", "a.0.norm", "a.1.fc", "a.1.fc", "", "b", "b", "a.0.fc", "a.0.fc"]
    nodes = tuple(
        NodeView(f"op{i}", OP, f"relu.{i}", "relu", "forward", FORWARD, scope=scope) for i, scope in enumerate(scopes)
    )
    tensors = tuple(NodeView(f"v{i}", TENSOR, f"t{i}", "", "temporary", FORWARD, (), "float32") for i in range(11))
    edges = tuple(EdgeView(f"op{i}", f"op{i + 1}", f"v{i}") for i in range(10))
    spans = layers(mirror(GraphView("", nodes + tensors, edges)))
    assert spans == [
        LayerRows("layer:a", "a", 0, 5, 0),
        LayerRows("layer:b", "b", 7, 8, 0),
        LayerRows("layer:a#2", "a", 9, 10, 0),
        LayerRows("layer:a.0", "a.0", 0, 3, 1),
        LayerRows("layer:a.1", "a.1", 4, 5, 1),
        LayerRows("layer:a.0.fc", "a.0.fc", 0, 1, 2),
    ]


def test_files_of_one_name_are_told_apart(tmp_path: Path) -> None:
    locations = []
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        file = tmp_path / folder / "model.py"
        file.write_text(f"first = 1\nhere = {folder!r}\n")
        locations.append(((compile(file.read_text(), str(file), "exec"), 2),))
    nodes = tuple(NodeView(f"op{i}", OP, f"relu.{i}", "relu", "forward", FORWARD) for i in range(2))
    details = facts.details(GraphView("", nodes, ()), locations)
    assert details.stacks == {"op0": (("model.py", 2, "<module>"),), "op1": (("model.py (2)", 2, "<module>"),)}
    assert details.files == {
        "model.py": {1: "first = 1", 2: "here = 'a'"},
        "model.py (2)": {1: "first = 1", 2: "here = 'b'"},
    }


def test_statistics_as_people_read_them() -> None:
    import numpy as np

    numbers = facts.statistics(np.array([3.0, -4.0, 0.0, np.inf]))
    assert facts.format_statistics(numbers) == [
        ("norm", "inf"),
        ("largest", "inf"),
        ("mean", "inf"),
        ("zero", "1 of 4"),
        ("not finite", "1 of 4"),
    ]
    assert dict(facts.format_statistics(facts.statistics(np.array([3 + 4j]))))["norm"] == "5"
    assert facts.format_statistics(facts.statistics(np.zeros((0,))))[0] == ("norm", "0")
