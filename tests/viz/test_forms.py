"""The table of forms is the folder of renderers."""

from __future__ import annotations

import pkgutil
import sys
from pathlib import Path
from types import ModuleType

import pytest

from gradtool import paddle, viz
from gradtool.cli.main import main
from gradtool.viz import forms, render


def test_every_renderer_is_a_form_and_every_form_has_a_renderer() -> None:
    """What in ``render/`` is not asked for by a form is a part of one that is."""
    parts = {"corners", "embedded"}
    folder = {module.name for module in pkgutil.iter_modules(render.__path__)}
    assert folder - parts == {form.renderer for form in forms.FORMS}


def test_no_two_forms_share_a_name_or_an_ending() -> None:
    assert len(forms.NAMED) == len(forms.FORMS)
    assert len(forms.BY_ENDING) == sum(len(form.endings) for form in forms.FORMS)


def counting(subject: forms.Drawable, form: str) -> str:
    """The whole of a renderer: a line that counts the boxes."""
    return f"{form}: {len(subject.view.drawn())} nodes\n"


def test_one_file_and_one_row_are_a_form(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    renderer = ModuleType("gradtool.viz.render.counting")
    monkeypatch.setattr(renderer, "picture", counting, raising=False)
    monkeypatch.setitem(sys.modules, renderer.__name__, renderer)
    row = forms.Form("count", (".count",), "counting", placed=False)
    monkeypatch.setitem(forms.NAMED, row.name, row)
    monkeypatch.setitem(forms.BY_ENDING, ".count", row)

    viz.graph(paddle.to_tensor([1.0, 2.0], stop_gradient=False).exp().sum()).save(tmp_path / "api.count")
    assert (tmp_path / "api.count").read_text().startswith("count: ")

    source = "import paddle\nw = paddle.to_tensor([1.0], stop_gradient=False)\nloss = (w * w).sum()\n"
    (tmp_path / "model.py").write_text(source)
    with pytest.raises(SystemExit) as ended:
        main(["graph", str(tmp_path / "model.py"), "-o", str(tmp_path / "cli.count")])
    assert ended.value.code == 0
    assert (tmp_path / "cli.count").read_text().startswith("count: ")
