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


TRAINED = """\
import paddle
paddle.seed(3)
print("ran")
w, b = (paddle.create_parameter([2], "float32", name=n) for n in "wb")
for step in range(4):
    loss = (w * (b if step == 1 else b.detach())).sum()
    loss.backward()
"""

TRAINED_PROGRAM = """\
import numpy as np
import paddle
paddle.enable_static()
print("ran")
x = paddle.static.data("x", [1, 3])
b = paddle.static.nn.fc(x, 3, name="b").detach()
loss = paddle.mean(paddle.static.nn.fc(x, 3, name="w") + b)
paddle.optimizer.SGD(0.1).minimize(loss)
exe = paddle.static.Executor()
exe.run(paddle.static.default_startup_program())
for _ in range(3):
    exe.run(feed={"x": np.ones([1, 3], "float32")}, fetch_list=[loss])
"""


@pytest.mark.parametrize(("text", "step", "tensor"), [(TRAINED, None, "b"), (TRAINED_PROGRAM, None, "b.w_0")])
def test_why_is_answered_from_the_run_of_the_session(
    text: str, step: int | None, tensor: str, opened: Open, capfd: pytest.CaptureFixture[str]
) -> None:
    book = opened(text, step=step)
    assert f"1 None (why {tensor} says why)" in book.opening or f"2 None (why {tensor} says why)" in book.opening
    assert "verdict: DETACHED" in said(book, "why")
    assert f"{tensor}   grad = None   verdict: DETACHED" in said(book, f"why {tensor}")
    assert capfd.readouterr().err.count("ran") == 1


@pytest.mark.parametrize(("step", "answer"), [(1, "grad = None"), (2, "‖g‖"), (3, "grad = None")])
def test_why_is_about_the_pass_that_is_gone_through(step: int, answer: str, opened: Open) -> None:
    """What later passes did is not told, and weights are as they were."""
    book = opened(TRAINED, step=step)
    assert said(book, "why b").startswith(f"b   {answer}")
    said(book, "zero w")
    assert said(book, "why w").endswith("this is about the run as it was recorded, without the edits of this branch")


def test_why_never_says_that_all_is_well_where_nothing_is_finite(opened: Open) -> None:
    book = opened("import paddle\nw = paddle.to_tensor([0.0], stop_gradient=False)\nloss = (w.sqrt() * 0).sum()\n")
    assert "1 of 1 gradients · 1 NaN ✗" in book.opening
    assert said(book, "why").endswith("1 of 1 parameter gets a gradient · 1 of them not finite · 1 finding")


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
    assert said(book, "graph nobody").startswith("✗ there is no operator and no tensor 'nobody'")
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
