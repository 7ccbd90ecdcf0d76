"""Notebooks that are written run again, in a real kernel, and come to what stands in them."""

from __future__ import annotations

import io
import re
from pathlib import Path
from typing import Any

import nbformat
import numpy as np
import pytest
from nbformat import NotebookNode

import gradtool
from gradtool import paddle
from gradtool.cli.main import main
from gradtool.viz.debugger.cell import Cell
from gradtool.viz.document import session
from gradtool.viz.document.ipynb import to_ipynb
from tests.notebooks import bundle, execute, failure, outputs, printed

STATIC = """\
import paddle
paddle.enable_static()

def build(width):
    x = paddle.static.data("x", [None, 4])
    h = paddle.static.nn.fc(x, width, activation="relu", name="body")
    return paddle.mean(paddle.static.nn.fc(h.detach(), 1, name="head"))
"""

DYNAMIC = """\
import paddle
w = paddle.create_parameter([3], "float32")
v = paddle.create_parameter([3], "float32")
loss = paddle.sqrt(w * 0.0 + v.detach()).sum()
"""


ANSWERS = ["verdict", "gradients", "picture", "sizes", "nan", "source", "environment", "json"]


def shown(notebook: Any) -> dict[str, Any]:
    """Cell -> what it shows."""
    return {c.id: bundle(c) for c in notebook.cells if c.cell_type == "code" and c.outputs}


@pytest.mark.usefixtures("nobody_has_chosen")
@pytest.mark.parametrize(
    ("text", "name", "options"),
    [(DYNAMIC, "model.py", {}), (STATIC, "model.py:build", {"arg": ["width=2"], "no_grad": ["head.b_0"], "seed": 3})],
)
def test_a_report_runs_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, name: str, options: dict[str, Any]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "model.py").write_text(text, encoding="utf-8")
    folder = tmp_path / "reports"
    folder.mkdir()
    gradtool.report(name, ipynb=folder / "report.ipynb", **options)
    written = nbformat.read(folder / "report.ipynb", as_version=4)
    before = shown(written)
    assert list(before) == [f"{answer}-code" for answer in ANSWERS]
    after = shown(execute(written, folder, allow_errors=False))
    assert list(after) == list(before)
    assert "DETACHED" in after["verdict-code"]["text/plain"]
    assert after["picture-code"]["image/svg+xml"] == before["picture-code"]["image/svg+xml"]
    for cell, output in after.items():
        assert without_places(output) == without_places(before[cell])


def without_places(output: Any) -> list[str]:
    """The lines of a cell without commands and files, which have other names in another folder."""
    text = re.sub(r'"(file|model)":"[^"]*"', "", output["text/plain"])
    lines = re.sub(r'"source":"[^"]*"', "", text).split("\n")
    return [line for line in lines if not line.startswith("next:") and not line.strip().startswith("File ")]


def test_the_report_on_a_loss_runs_below_the_cell_that_computes_it(tmp_path: Path) -> None:
    paddle.disable_static()
    file = tmp_path / "live.ipynb"
    gradtool.report(lambda: (paddle.to_tensor([1.0, 2.0], stop_gradient=False) * 2.0).sum(), ipynb=file)
    notebook = nbformat.read(file, as_version=4)
    assert "compute loss in a cell above" in notebook.cells[0].source
    w = "w = paddle.to_tensor([1.0, 2.0], stop_gradient=False)"
    setup = f"from gradtool import paddle\n{w}\nloss = lambda: (w * 2.0).sum()"
    notebook.cells.insert(0, nbformat.v4.new_code_cell(setup, id="setup"))
    again = shown(execute(notebook, tmp_path, allow_errors=False))
    assert again["gradients-code"]["text/plain"].count("ok") == 1


LINES = """\
step
note **where** is it born?
p {parameter}@GRAD
n = 3
n + {{"a": 1}}["a"]
v["{parameter}@GRAD"] * n
p nothing
set {parameter} = np.ones_like(v["{parameter}"])
goto In[1]
graph {parameter}
cells
hits
fork
finish
compare base fork1
why {parameter}
export ipynb sub/hunt.ipynb
"""


@pytest.mark.parametrize(
    ("text", "arguments", "parameter", "opening"),
    [
        (
            DYNAMIC,
            ["model.py", "--catch", "nan", "--watch", 'v["w"].sum()'],
            "w",
            """../model.py --catch nan --watch 'v["w"].sum()'""",
        ),
        (
            STATIC,
            ["model.py:build", "--arg", "width=2", "--seed", "3", "--no-grad", "head.b_0", "--feed", "feed.npz"],
            "head.w_0",
            "../model.py:build --seed 3 --arg width=2 --no-grad head.b_0 --feed ../feed.npz",
        ),
    ],
)
def test_an_exported_session_runs_again(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    text: str,
    arguments: list[str],
    parameter: str,
    opening: str,
) -> None:
    """Every cell comes to what it came to at the prompt."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "model.py").write_text(text, encoding="utf-8")
    np.savez("feed.npz", x=np.ones((2, 4), "float32"))
    (tmp_path / "sub").mkdir()
    monkeypatch.setattr("sys.stdin", io.StringIO(LINES.format(parameter=parameter)))
    with pytest.raises(SystemExit) as left:
        main(["debug", *arguments])
    said = capsys.readouterr().out
    assert left.value.code == 0
    written = nbformat.read(tmp_path / "sub" / "hunt.ipynb", as_version=4)
    typed = [c for c in written.cells if c.id.startswith("cell-")]
    before = outputs(NotebookNode(cells=typed))
    begin = next(c for c in written.cells if c.id == "session-code")
    assert begin.source == f"%load_ext gradtool\n%gdebug {opening}"
    again = execute(written, tmp_path / "sub", allow_errors=False)
    typed = [c for c in again.cells if c.id.startswith("cell-")]
    after = outputs(NotebookNode(cells=typed))
    assert (len(after), sum(map(len, after))) == (16, 15)
    for cell, was, now in zip(typed, before, after, strict=True):
        if not cell.source.startswith("%gwhy"):
            assert now == was, cell.source
    assert "verdict" in after[-1][0]["data"]["text/plain"]
    texts = [bundle(c)["text/plain"] for c in typed if c.outputs and c.outputs[0].output_type != "error"]
    assert len(texts) == 14
    assert all(t in said for t in texts if "**where**" not in t and "@GRAD" not in t)
    assert bundle(typed[1])["text/markdown"] == "**where** is it born?"
    assert failure(typed[6]).startswith("✗ there is no tensor 'nothing'.")
    assert "image/svg+xml" in bundle(typed[9])


def test_python_of_several_lines_runs_in_the_session_and_what_fails_does_not_stop_it(tmp_path: Path) -> None:
    (tmp_path / "model.py").write_text(DYNAMIC, encoding="utf-8")
    cells = [
        Cell(1, "6 * 7", "42"),
        Cell(2, "1 / 0", "✗ ZeroDivisionError: division by zero", failed=True),
        Cell(3, "for i in range(2):\n    print(i, cur.part)", ""),
    ]
    document = session.document(cells, "model.py")
    again = execute(nbformat.reads(to_ipynb(document), as_version=4), tmp_path, allow_errors=False)
    by_id = {c.id: c for c in again.cells}
    assert bundle(by_id["cell-1"])["text/plain"] == "42"
    assert failure(by_id["cell-2"]) == "✗ ZeroDivisionError: division by zero"
    assert printed(by_id["cell-3"]) == "0 backward\n1 backward\n"
