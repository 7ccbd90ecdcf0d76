"""Notebooks that are written run again, in a real kernel, and come to what stands in them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import nbformat
import pytest

import gradtool as paddle
from gradtool.viz.debugger.cell import Cell
from gradtool.viz.document import to_ipynb
from gradtool.viz.document.blocks import Document, Section
from tests.notebooks import bundle, execute, failure, printed

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
    paddle.report(name, ipynb=folder / "report.ipynb", **options)
    written = nbformat.read(folder / "report.ipynb", as_version=4)
    before = shown(written)
    assert list(before) == [f"{answer}-code" for answer in ANSWERS]
    after = shown(execute(written, folder, allow_errors=False))
    assert list(after) == list(before)
    assert "DETACHED" in after["verdict-code"]["text/plain"]
    assert after["picture-code"]["image/svg+xml"] == before["picture-code"]["image/svg+xml"]
    for cell, found in after.items():
        assert without_places(found) == without_places(before[cell])


def without_places(found: Any) -> list[str]:
    """The lines of a cell without commands and files, which have other names in another folder."""
    lines = found["text/plain"].split("\n")
    return [line for line in lines if not line.startswith("next:") and not line.strip().startswith("File ")]


def test_the_report_on_a_loss_runs_below_the_cell_that_computes_it(tmp_path: Path) -> None:
    paddle.disable_static()
    file = tmp_path / "live.ipynb"
    paddle.report(lambda: (paddle.to_tensor([1.0, 2.0], stop_gradient=False) * 2.0).sum(), ipynb=file)
    notebook = nbformat.read(file, as_version=4)
    assert "compute loss in a cell above" in notebook.cells[0].source
    setup = "import gradtool\nw = gradtool.to_tensor([1.0, 2.0], stop_gradient=False)\nloss = lambda: (w * 2.0).sum()"
    notebook.cells.insert(0, nbformat.v4.new_code_cell(setup, id="setup"))
    again = shown(execute(notebook, tmp_path, allow_errors=False))
    assert again["gradients-code"]["text/plain"].count("ok") == 1


def test_python_cells_of_a_session_run_and_failed_ones_do_not_stop_it(tmp_path: Path) -> None:
    cells = [
        Cell(1, "6 * 7", "42"),
        Cell(2, "1 / 0", "ZeroDivisionError: division by zero", failed=True),
        Cell(3, "for i in range(2):\n    print(i)", "0\n1"),
    ]
    made = Document("A session", (), (Section("session", "Session", tuple(cells)),))
    again = execute(nbformat.reads(to_ipynb(made), as_version=4), tmp_path, allow_errors=False)
    by_id = {c.id: c for c in again.cells}
    assert bundle(by_id["cell-1"])["text/plain"] == "42"
    assert "ZeroDivisionError" in failure(by_id["cell-2"])
    assert printed(by_id["cell-3"]) == "0\n1\n"
