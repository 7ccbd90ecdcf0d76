"""Verbs that ask about the model: why, path, contrib, saved, mem, graph, program; in both modes."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pytest

from tests.viz.debugger.conftest import Open, said

DYNAMIC = """\
import paddle
paddle.seed(3)
fc = paddle.nn.Linear(3, 3)
unused = paddle.nn.Linear(3, 1)
x = paddle.to_tensor([[1.0, 2.0, 3.0]])
h = paddle.tanh(fc(x))
loss = (fc(h) + h).sum()
"""

STATIC = """\
import numpy as np
import paddle
paddle.enable_static()
x = paddle.static.data("x", [1, 3])
fc = paddle.nn.Linear(3, 3)
unused = paddle.nn.Linear(3, 1)
h = paddle.tanh(fc(x))
loss = paddle.sum(fc(h) + h)
feed = {"x": np.ones([1, 3], "float32")}
"""

BOTH = pytest.mark.parametrize("text", [DYNAMIC, STATIC], ids=["dynamic", "static"])


@BOTH
def test_why(opened: Open, text: str) -> None:
    book = opened(text)
    answer = said(book, "why unused.weight")
    assert "verdict: UNUSED IN FORWARD" in answer
    assert said(book, "why unused.weight@GRAD") == answer
    assert "bias" in said(book, "why")
    assert said(book, "why nothing").startswith("✗ unknown tensor for why: 'nothing'")


@BOTH
def test_the_way_from_the_loss(opened: Open, text: str) -> None:
    book = opened(text)
    lines = said(book, "path fc.weight").splitlines()
    assert lines[0] == f"from the loss to fc.weight@GRAD · {len(lines) - 1} operators"
    assert any(f"{name}@GRAD" in lines[-1] for name in ("fc.weight", "linear_0.w_0"))
    way = book.execute("path h")[1].value
    assert way[-1] in ("tanh_grad.0", "sum.0", "elementwise_add_grad.0", "matmul_v2_grad.0")
    assert [e for e in way if e.startswith(("matmul_v2_grad", "elementwise_add_grad"))]


@BOTH
def test_the_way_between_two(opened: Open, text: str) -> None:
    book = opened(text)
    there, back = book.execute("path x loss")[1].value, book.execute("path loss x")[1].value
    assert there == back
    assert there[:3] == ["matmul_v2.0", "elementwise_add.0", "tanh.0"]
    assert said(book, "path x fc.weight") == "no way leads from x to fc.weight, nor back"
    assert said(book, "path a b c").startswith("✗ expected one tensor or two")
    assert said(book, "path nobody").startswith("✗ there is no tensor 'nobody'")


@BOTH
def test_a_tensor_without_gradient(opened: Open, text: str) -> None:
    book = opened(text)
    assert said(book, "path x").startswith("no gradient reaches x · why x says why")
    assert said(book, "contrib x") == "no gradient reaches x · why x says why"


@BOTH
def test_contributions(opened: Open, text: str) -> None:
    book = opened(text)
    lines = said(book, "contrib fc.weight").splitlines()
    assert lines[0].endswith("2 contributions")
    assert all("cosine" in line and "model.py:" in line for line in lines[1:])
    parts = book.execute("contrib fc.weight")[1].value
    said(book, "finish")
    np.testing.assert_allclose(sum(parts), book.execute('v["fc.weight@GRAD"]')[1].value, rtol=1e-6)
    one = said(book, "contrib fc.bias" if text is DYNAMIC else "contrib loss").splitlines()
    assert len(one) == (3 if text is DYNAMIC else 2)


@BOTH
def test_contributions_of_an_edited_run(opened: Open, text: str) -> None:
    book = opened(text)
    before = book.execute("contrib fc.weight")[1].value
    said(book, "set loss@GRAD = 2.0")
    after = book.execute("contrib fc.weight")[1].value
    for a, b in zip(before, after, strict=True):
        np.testing.assert_allclose(2 * a, b, rtol=1e-6)


@BOTH
def test_saved_values(opened: Open, text: str) -> None:
    book = opened(text)
    answer = said(book, "saved")
    story = book.execute("saved")[1].value
    assert story.total == sum(b.nbytes for b in story.kept)
    assert f"{story.total} B kept for backward alone" in answer
    assert "tanh_grad.0" in answer
    assert said(book, "saved 3").startswith("✗ it takes no arguments")


@BOTH
def test_what_the_session_holds(opened: Open, text: str) -> None:
    book = opened(text)
    first = said(book, "mem")
    assert "without limit" in first
    said(book, "fork other")
    said(book, "zero h@GRAD")
    said(book, "finish")
    answer = said(book, "mem")
    assert "branch other" in answer
    assert "computed again     0" not in answer
    tight = opened(text, history=64)
    assert "within 64 B (--history)" in said(tight, "mem")


@BOTH
def test_pictures(opened: Open, text: str, tmp_path: Path) -> None:
    book = opened(text)
    reply = book.execute("graph h@GRAD")[1]
    assert reply.svg is not None
    assert ET.fromstring(reply.svg).tag.endswith("svg")
    assert "tanh" in reply.text
    file = tmp_path / "near.svg"
    assert said(book, f"graph fc.weight -o {file}") == f"wrote {file}"
    assert ET.fromstring(file.read_text(encoding="utf-8")).tag.endswith("svg")
    assert said(book, "graph").startswith("forward and backward graph")
    assert said(book, "graph -o near.png").startswith("✗ expected a name that ends with .svg")
    assert said(book, "graph nobody").startswith("✗ there is no operator 'nobody'")
    assert said(book, f"graph -o {tmp_path / 'missing' / 'a.svg'}").startswith("✗ cannot write")


@BOTH
def test_the_program_in_pairs(opened: Open, text: str) -> None:
    book = opened(text)
    said(book, "until tanh_grad.0")
    around = said(book, "program")
    assert next(line for line in around.splitlines() if line.startswith("▶")).count("tanh") >= 2
    whole = said(book, "program all").splitlines()
    assert "backward" in whole[0]
    assert len(whole) >= len(around.splitlines()) - 1
    assert said(book, "program 3").startswith("✗ expected nothing or all")
