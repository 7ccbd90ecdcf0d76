"""What shows itself keeps to what notebooks ask for: Jupyter by ``_repr_mimebundle_``, and marimo by the same."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from gradtool import paddle, viz
from gradtool.cli.notebook.answer_display import CommandOutput
from gradtool.viz.views.view import Table, View


def _loss() -> Any:
    w = paddle.static.data("w", [2])
    w.stop_gradient = False
    return paddle.mean(w * w)


def _picture() -> Any:
    return viz.graph(_loss())


def _pairs() -> Any:
    return viz.pairs(_loss())


def _program() -> Any:
    return _loss().block.program


def _report() -> CommandOutput:
    shown = CommandOutput()
    table = Table(["a", "status"], [["<b>", "cut: there"]], {"cut": "bad"})
    shown.report(View("table", {}, ["head & all", table], ["gradtool why 'a b' In[3]"]), "text", False)
    return shown


def _svg() -> CommandOutput:
    shown = CommandOutput()
    shown.picture("<svg></svg>", "svg", "text")
    return shown


@pytest.mark.parametrize("make", [_picture, _pairs, _program, _report, _svg])
def test_a_bundle_is_what_notebooks_take(make: Any) -> None:
    """marimo calls with both arguments, shows something other than the text, and takes a picture for Base64 that does
    not begin with a bracket.
    """
    bundle = make()._repr_mimebundle_(include=None, exclude=None)
    assert all(isinstance(value, str) for value in bundle.values())
    assert bundle["text/plain"]
    assert {"text/html", "image/svg+xml"} & set(bundle)
    assert bundle.get("image/svg+xml", "<").startswith("<")
    assert "<script" not in bundle.get("text/html", "")


def test_a_report_is_escaped_and_what_is_bad_is_bold() -> None:
    html = _report()._repr_mimebundle_()["text/html"]
    assert "<pre>head &amp; all</pre>" in html
    assert "&lt;b&gt;" in html
    assert "<b>cut: there</b>" in html
    assert "next: <code>%why &#x27;a b&#x27; In[3]</code>" in html


def test_a_picture_of_bytes_is_base64() -> None:
    shown = CommandOutput()
    shown.picture(b"\x89PNG", "png", "text")
    assert shown._repr_mimebundle_() == {"text/plain": "text", "image/png": "iVBORw=="}


def test_texts_of_pictures_are_shown_as_they_are() -> None:
    shown = CommandOutput()
    shown.picture("digraph {}", "dot", "text")
    assert repr(shown) == "digraph {}"


def test_a_file_is_no_answer(tmp_path: Path) -> None:
    assert CommandOutput().empty
    assert not _report().empty
