"""The neutral view of a program's graph, and its DOT text."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from gradtool import paddle
from gradtool.engine.view.from_program import view
from gradtool.engine.view.graph import BACKWARD, BOTH, FORWARD, OP, TENSOR, GraphView
from gradtool.viz.mirror.captions import LONGEST
from gradtool.viz.mirror.layout import mirror
from gradtool.viz.render import dot
from gradtool.viz.style import ROLES
from tests.programs import system_program

GOLDEN = Path(__file__).parents[2] / "cli" / "golden"

AWKWARD = [
    "<x>",
    "a:b",
    'quo"te',
    "back\\slash",
    "line\nbreak",
    "\\N",
    "tab\t",
    "]; evil [",
    "node",
    "ünï→",
    "x" * 10_000,
]


def network() -> tuple[Any, Any]:
    x = paddle.static.data("x", [None, 3])
    h = paddle.static.nn.fc(x, 2, name="body")
    loss = paddle.mean(h * h)
    return loss, paddle.static.append_backward(loss)


def graph() -> GraphView:
    loss, pairs = network()
    return view(loss.block.program, title="model.py", loss=loss, gradients=dict(pairs))


STATEMENT = re.compile(r"^\t+(?P<head>\w+(?: -> \w+)?|node|edge|graph)(?: \[(?P<list>.*)\])?$")
ATTRIBUTE = re.compile(r'(\w+)=("(?:[^"\\]|\\.)*"|[\w.#]+)(?: |$)', re.DOTALL)


def statements(text: str) -> dict[str, dict[str, str]]:
    """Node and edge statements with their attributes; fails on anything that is not well-formed."""
    nodes: dict[str, dict[str, str]] = {}
    for line in text.splitlines():
        if line.startswith("//") or line in ("digraph G {", "}"):
            continue
        match = STATEMENT.match(line)
        assert match is not None, line
        body = match["list"] or ""
        attributes = ATTRIBUTE.findall(body)
        assert " ".join(f"{k}={v}" for k, v in attributes) == body
        key = match["head"]
        while key in nodes:
            key += "'"
        nodes[key] = dict(attributes)
    return nodes


def label(attributes: dict[str, str]) -> list[str]:
    """The lines of a label, with the escapes undone."""
    text = attributes["label"].removeprefix('"').removesuffix('"')
    lines, line, characters = [], "", iter(text)
    for c in characters:
        if c != "\\":
            line += c
            continue
        escaped = next(characters)
        if escaped == "n":
            lines.append(line)
            line = ""
        else:
            assert escaped in '\\"'
            line += escaped
    return [*lines, line]


def test_nodes_have_stable_ids_names_roles_and_pairs() -> None:
    whole = graph()
    ops = [n for n in whole.nodes if n.kind == OP]
    assert [(n.id, n.name, n.role, n.pair) for n in ops] == [
        ("op0", "mul.0", "forward", None),
        ("op1", "elementwise_add.0", "forward", None),
        ("op2", "elementwise_mul.0", "forward", None),
        ("op3", "reduce_mean.0", "loss", None),
        ("op4", "fill_constant.0", "seed", None),
        ("op5", "reduce_mean_grad.0", "backward", "op3"),
        ("op6", "elementwise_mul_grad.0", "backward", "op2"),
        ("op7", "sum.0", "backward", None),
        ("op8", "elementwise_add_grad.0", "backward", "op1"),
        ("op9", "mul_grad.0", "backward", "op0"),
    ]
    tensors = {n.name: n for n in whole.nodes if n.kind == TENSOR}
    assert {n: tensors[n].role for n in ("x", "body.w_0", "body.w_0@GRAD", "body.tmp_0", "mean_0.tmp_0")} == {
        "x": "data",
        "body.w_0": "parameter",
        "body.w_0@GRAD": "gradient",
        "body.tmp_0": "temporary",
        "mean_0.tmp_0": "loss",
    }
    assert tensors["body.w_0@GRAD"].pair == tensors["body.w_0"].id
    assert tensors["body.tmp_0@GRAD"].pair == tensors["body.tmp_0"].id
    assert tensors["x"].spec == "float32[-1, 3]"
    assert tensors["body.w_0"].source.startswith("test_graph_pictures.py:")
    assert len({n.id for n in whole.nodes}) == len(whole.nodes)


def test_edges_run_from_where_a_value_comes_from() -> None:
    whole = graph()
    name = {n.id: n.name for n in whole.nodes}
    edges = {(name[e.source], name[e.target], name[e.tensor]) for e in whole.edges}
    assert ("x", "mul.0", "x") in edges
    assert ("mul.0", "elementwise_add.0", "body.tmp_0") in edges
    assert ("mul_grad.0", "body.w_0@GRAD", "body.w_0@GRAD") in edges
    saved = {(name[e.target], name[e.tensor]) for e in whole.edges if e.saved}
    assert saved == {("elementwise_mul_grad.0", "body.tmp_1"), ("mul_grad.0", "x"), ("mul_grad.0", "body.w_0")}
    shapes = {(name[e.target], name[e.tensor]) for e in whole.edges if e.shape_only}
    assert ("elementwise_add_grad.0", "body.b_0") in shapes


def test_an_overwritten_tensor_is_read_from_its_last_writer() -> None:
    x = paddle.static.data("x", [2])
    block = x.block
    h = paddle.square(x)
    first = paddle.square(h)
    block.append_op("square", {"X": first}, {"Out": h}, {})
    paddle.square(h)
    whole = view(block.program)
    name = {n.id: n.name for n in whole.nodes}
    h_edges = [(name[e.source], name[e.target]) for e in whole.edges if name[e.tensor] == h.name]
    assert h_edges == [("square.0", "square.1"), ("square.2", "square.3")]


def test_parts() -> None:
    whole = graph()
    forward, backward = whole.only(FORWARD), whole.only(BACKWARD)
    assert whole.only(BOTH) is whole
    assert len(forward.nodes) + len(backward.nodes) == len(whole.nodes)
    assert {n.id for n in forward.nodes if n.kind == OP} == {"op0", "op1", "op2", "op3"}
    assert not any(e.saved for e in backward.edges)
    for part in (forward, backward):
        ids = {n.id for n in part.nodes}
        assert all(e.source in ids and e.target in ids for e in part.edges)


def test_the_view_is_in_proportion_to_the_program() -> None:
    x = paddle.static.data("x", [2])
    for _ in range(3_000):
        x = paddle.square(x)
    whole = view(x.block.program)
    assert len(whole.nodes) == 6_001
    assert len(whole.edges) == 3_001  # one for each operator's input, one for the result


def test_dot_of_each_part_is_well_formed() -> None:
    whole = graph()
    for part in (FORWARD, BACKWARD, BOTH):
        shown = whole.only(part)
        text = dot.render(mirror(shown), file="g.dot", command="gradtool backward model.py")
        read = statements(text)
        assert text.splitlines()[1:3] == [
            "// made by: gradtool backward model.py",
            "// draw it:  neato -n2 -Tsvg g.dot -o g.svg",
        ]
        assert {n.id for n in shown.drawn()} == {k for k in read if re.fullmatch(r"(op|v)\d+", k)}
        assert sum(" -> " in k and "legend" not in k for k in read) == len(shown.edges)


def test_parameters_and_gradients_stand_out_and_the_legend_says_how() -> None:
    read = statements(dot.render(mirror(graph())))
    by_name = {label(a)[0]: a for k, a in read.items() if re.fullmatch(r"v\d+", k)}
    parameter, gradient = by_name["P body.w_0"], by_name["G body.w_0@GRAD"]
    assert parameter["fillcolor"] != gradient["fillcolor"]
    assert parameter["shape"] != gradient["shape"]
    assert read["legend_parameter"]["fillcolor"] == parameter["fillcolor"]
    assert read["legend_gradient"]["shape"] == gradient["shape"]
    assert "legend_optimize" not in read


def test_text_on_every_fill_can_be_read() -> None:
    def luminance(fill: str) -> float:
        parts = [int(fill[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    for style in ROLES.values():
        assert (luminance(style.fill) + 0.05) / 0.05 >= 4.5


@pytest.mark.parametrize("name", AWKWARD, ids=lambda n: ascii(n[:12]))
def test_awkward_names(name: str) -> None:
    w = paddle.static.create_parameter([2], "float32", name=name)
    loss = paddle.mean(w * w)
    paddle.static.append_backward(loss)
    text = dot.render(mirror(view(loss.block.program, title=name, loss=loss)))
    read = statements(text)
    labels = {label(a)[0] for k, a in read.items() if re.fullmatch(r"v\d+", k)}
    shown = name.replace("\n", "\\n").replace("\t", "\\t")
    if len(shown) > LONGEST:
        shown = f"{shown[:22]}…{shown[-11:]}"
    assert f"P {shown}" in labels
    drawn = subprocess.run([system_program("neato"), "-n2", "-Tsvg"], input=text.encode(), capture_output=True)
    assert drawn.returncode == 0
    assert b"syntax" not in drawn.stderr


def test_golden_picture() -> None:
    """The documents' example, drawn by the command line; the command itself is tested in tests/cli."""
    read = statements((GOLDEN / "graph.dot").read_text(encoding="utf-8"))
    assert label(read["op0"]) == ["F lookup_table_v2.0", "op0 · model.py:8"]
    assert "op12" in read
    assert "op13" not in read
