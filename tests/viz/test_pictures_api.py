"""``gradtool.viz.graph`` and ``pairs``: pictures from programs and tensors, their files, and what notebooks show."""

from __future__ import annotations

import json
import subprocess
import sys
import webbrowser
from collections.abc import Callable
from html import unescape
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from gradtool import paddle, viz
from gradtool.viz import picture
from gradtool.viz.forms import BY_ENDING
from gradtool.viz.picture import NOTEBOOK_SVG
from tests.viz.pages import names


def static_loss() -> Any:
    x = paddle.static.data("x", [None, 3])
    loss = paddle.mean(paddle.tanh(paddle.static.nn.fc(x, 2, name="body")))
    paddle.static.append_backward(loss)
    return loss


def dynamic_loss() -> Any:
    paddle.disable_static()
    w = paddle.to_tensor([3.0, 4.0], stop_gradient=False)
    return w, (w * w).sum()


BEGINNINGS: dict[str, bytes] = {
    ".html": b"<!doctype html>",
    ".svg": b"<svg ",
    ".dot": b"// forward and backward graph",
    ".json": b'{\n  "blocks"',
    ".mmd": b"%% forward and backward graph",
    ".txt": b"forward and backward graph",
    ".png": b"\x89PNG\r\n",
    ".pdf": b"%PDF-",
}


@pytest.mark.parametrize("ending", BEGINNINGS)
def test_the_ending_says_what_is_saved(ending: str, tmp_path: Path) -> None:
    file = tmp_path / f"graph{ending}"
    viz.graph(static_loss(), title="model.py").save(file)
    assert file.read_bytes().startswith(BEGINNINGS[ending])
    assert set(BEGINNINGS) | {".htm", ".gv", ".mermaid", ".text"} == set(BY_ENDING)


def test_another_ending_is_an_error_and_writes_nothing(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"cannot tell from .*graph\.htlm.* must be one of \.dot") as caught:
        viz.graph(static_loss()).save(tmp_path / "graph.htlm")
    assert ".html" in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_a_variable_is_the_loss_of_its_program() -> None:
    loss = static_loss()
    of_variable, of_program = viz.graph(loss), viz.graph(loss.block.program)
    assert [n.name for n in of_variable.view.nodes if n.role == "loss" and n.kind == "tensor"] == [loss.name]
    assert [n.id for n in of_variable.view.nodes] == [n.id for n in of_program.view.nodes]
    assert repr(of_variable) == f"<picture: forward and backward graph, {len(of_variable.view.drawn())} nodes>"


def test_a_part_has_the_stacks_of_its_operators() -> None:
    loss = static_loss()
    shown = viz.graph(loss, part="backward")
    operators = [n.id for n in shown.view.nodes if n.kind == "op"]
    assert operators
    assert all(n.part == "backward" for n in shown.view.nodes)
    assert list(shown.details.stacks) == operators
    assert "test_pictures_api.py" in shown.html()


def test_values_are_shown_by_name() -> None:
    loss = static_loss()
    shown = viz.graph(loss, values={"body.w_0": np.full((3, 2), 2.0)})
    ids = {n.name: n.id for n in shown.view.nodes}
    assert shown.details.values[ids["body.w_0"]]["norm"] == pytest.approx(24**0.5)
    with pytest.raises(ValueError, match=r"'body\.w_1', which the graph does not") as error:
        viz.graph(loss, values={"body.w_1": np.zeros(1)}).html()
    assert "body.w_0" in str(error.value)


def test_leaves_of_a_tape_have_values_and_gradients() -> None:
    w, loss = dynamic_loss()
    loss.backward(retain_graph=True)
    shown = viz.graph(loss)
    norms = {n.part: shown.details.values[n.id]["norm"] for n in shown.view.nodes if n.id in shown.details.values}
    assert norms == {"forward": 5.0, "backward": 10.0}
    assert viz.graph([loss, w]).text().startswith("forward and backward graph\n")


@pytest.mark.parametrize(
    ("call", "error", "said"),
    [
        (
            lambda: viz.graph(3),
            TypeError,
            "expected a Program, a Variable, a Tensor or a list of Tensors, but received int",
        ),
        (lambda: viz.graph([]), TypeError, "but received list"),
        (lambda: viz.pairs("x"), TypeError, "but received str"),
        (lambda: viz.graph(static_loss(), part="fwd"), ValueError, "part must be one of forward, backward, both"),
        (lambda: viz.graph(static_loss(), collapse="all"), ValueError, "collapse must be one of auto, none"),
    ],
)
def test_wrong_arguments(call: Callable[[], Any], error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said):
        call()


def test_notebooks_get_a_page_in_a_frame_a_picture_and_text() -> None:
    shown = viz.graph(static_loss())
    bundle = shown._repr_mimebundle_()
    assert bundle.keys() == {"text/plain", "text/html", "image/svg+xml"}
    assert bundle["text/plain"] == shown.text()
    assert bundle["image/svg+xml"] == shown.svg()
    frame = bundle["text/html"]
    assert frame.startswith('<iframe srcdoc="')
    assert 'sandbox="allow-scripts"' in frame
    assert unescape(frame.partition('srcdoc="')[2].partition('"')[0]) == shown.html()
    # Viewers that take frames out are left with a table.
    left = frame.partition("</iframe>")[2]
    assert left.startswith("<details>")
    assert "<td>tanh.0</td><td>tanh_grad.0</td>" in left


def test_a_large_graph_brings_no_svg_to_a_notebook() -> None:
    h = paddle.static.data("x", [4])
    for _ in range(NOTEBOOK_SVG + 1):
        h = paddle.tanh(h)
    shown = viz.graph(h)
    assert "image/svg+xml" not in shown._repr_mimebundle_()
    assert len(shown.folded.drawn()) < len(shown.view.drawn())
    assert viz.graph(h, collapse="none").folded is not None
    assert json.loads(shown.json())["nodes"][0]["id"] == "op0"


def test_a_huge_graph_is_folded_in_a_notebook(monkeypatch: pytest.MonkeyPatch) -> None:
    h = paddle.static.data("x", [4])
    for _ in range(NOTEBOOK_SVG + 1):
        h = paddle.tanh(h)
    shown = viz.graph(h)
    whole = len(shown._repr_mimebundle_()["text/html"])
    monkeypatch.setattr(picture, "NOTEBOOK_PAGE", NOTEBOOK_SVG)
    assert len(shown._repr_mimebundle_()["text/html"]) < whole
    assert "tanh.400" in names(shown.html())


def test_programs_show_themselves_in_notebooks() -> None:
    program = static_loss().block.program
    bundle = program._repr_mimebundle_()
    assert bundle["text/plain"] == str(program)
    assert bundle["image/svg+xml"] == viz.graph(program).svg()
    assert paddle.static.Program()._repr_mimebundle_()["text/plain"] == str(paddle.static.Program())


def test_pairs_are_a_table() -> None:
    table = viz.pairs(static_loss(), title="<model>")
    assert list(table.headings) == ["forward", "saved", "", "backward", "source"]
    assert len(table) == 5
    row = next(r for r in table.rows if " = tanh(" in r[0])
    assert row[1:3] == ["tanh_0.tmp_0", "↔"]
    lines = str(table).splitlines()
    assert len({line.index("↔") for line in lines if "↔" in line}) == 1
    bundle = table._repr_mimebundle_()
    assert bundle["text/plain"] == str(table)
    assert "&lt;model&gt;" in bundle["text/html"]
    assert bundle["text/html"].count("<tr>") == 6


def test_show_opens_a_page(monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    monkeypatch.setattr(webbrowser, "open", opened.append)
    viz.graph(static_loss()).show()
    (address,) = opened
    file = Path(address.removeprefix("file://"))
    assert file.read_text().startswith("<!doctype html>")
    file.unlink()
    file.parent.rmdir()


def test_show_in_a_notebook_displays_below_the_cell(monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[Any] = []
    shell = SimpleNamespace(get_ipython=lambda: SimpleNamespace(kernel=1))
    monkeypatch.setitem(sys.modules, "IPython", shell)  # type: ignore[arg-type]
    monkeypatch.setitem(sys.modules, "IPython.display", SimpleNamespace(display=shown.append))  # type: ignore[arg-type]
    drawing = viz.graph(static_loss())
    drawing.show()
    assert shown == [drawing]


def test_pictures_are_loaded_when_they_are_first_used() -> None:
    code = (
        "import sys, gradtool, gradtool.viz; from gradtool import viz\n"
        "print([m for m in ('numpy', 'graphviz', 'gradtool.viz.picture') if m in sys.modules], viz.graph.__name__)\n"
        "from gradtool import paddle; paddle.enable_static()\n"
        "viz.graph(paddle.tanh(paddle.static.data('x', [2]))).html()\n"
        "print([m for m in ('graphviz', 'rich', 'click') if m in sys.modules])\n"
        "try:\n    viz.nothing\nexcept AttributeError as error:\n    print(error)"
    )
    process = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert process.stdout.splitlines() == ["[] graph", "[]", "module 'gradtool.viz' has no attribute 'nothing'"]
