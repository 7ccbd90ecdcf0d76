"""Answers show themselves: as text, as tables in notebooks and files, in one way for all of them."""

from __future__ import annotations

import csv
import io
import sys
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import gradtool
from gradtool import paddle, viz
from gradtool.viz.results import FORMS, tables

HOSTILE = "<script>alert(1)</script>"


def static_loss() -> Any:
    x = paddle.static.data("x", [2, 3])
    loss = paddle.mean(paddle.sqrt(paddle.static.nn.fc(x, 2, name="body")))
    paddle.static.Executor().run(paddle.static.default_startup_program())
    return loss


FEED = {"x": np.full((2, 3), 0.5, "float32")}


def dynamic_loss() -> Any:
    paddle.disable_static()
    net = paddle.nn.Sequential(paddle.nn.Linear(3, 2), paddle.nn.Tanh(), paddle.nn.Linear(2, 1))
    return lambda: net(paddle.ones([4, 3])).mean()


def dynamic_why() -> Any:
    paddle.disable_static()
    with gradtool.watching():
        w = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
        return gradtool.why((w * w).detach().sum(), w)


def dynamic_nan() -> Any:
    paddle.disable_static()
    x = paddle.to_tensor([0.0, 4.0], stop_gradient=False)
    return gradtool.nan(lambda: paddle.sqrt(x).sum())


def dynamic_gradcheck() -> Any:
    paddle.disable_static()
    return gradtool.gradcheck(paddle.tanh, paddle.to_tensor([[1.0, 2.0]], stop_gradient=False))


RESULTS: dict[str, tuple[Callable[[], Any], str]] = {
    "stats": (lambda: gradtool.stats(dynamic_loss()), "0.weight"),
    "stats of a program": (lambda: gradtool.stats(static_loss(), FEED), "body.w_0"),
    "saved": (lambda: gradtool.saved(dynamic_loss()), "tanh"),
    "saved of a program": (lambda: gradtool.saved(static_loss(), FEED), "sqrt"),
    "profile": (lambda: gradtool.profile(dynamic_loss(), repeats=2), "tanh_grad"),
    "profile of a program": (lambda: gradtool.profile(static_loss(), FEED, repeats=2), "sqrt_grad"),
    "nan": (dynamic_nan, "sqrt_grad"),
    "gradcheck": (dynamic_gradcheck, "ok"),
    "why": (dynamic_why, "detached"),
    "why of a program": (lambda: gradtool.why(static_loss().detach(), feed=None), "body.w_0"),
    "an answer": (lambda: dynamic_why()[0], "detached"),
    "pairs": (lambda: viz.pairs(static_loss()), "sqrt"),
}


@pytest.fixture(params=RESULTS)
def result(request: pytest.FixtureRequest) -> tuple[Any, str]:
    make, part = RESULTS[request.param]
    return make(), part


class Cells(HTMLParser):
    """The tables of a page: title, headings, rows of cells."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.tables: list[list[list[str]]] = []

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.tags.append(tag)
        if tag == "table":
            self.tables.append([])
        elif tag == "tr":
            self.tables[-1].append([])
        elif tag in ("td", "th"):
            self.tables[-1][-1].append("")

    def handle_data(self, data: str) -> None:
        if self.tags and self.tags[-1] in ("td", "th"):
            self.tables[-1][-1][-1] += data

    def handle_endtag(self, tag: str) -> None:
        self.tags.append(f"/{tag}")


def cells(page: str) -> list[list[list[str]]]:
    reader = Cells()
    reader.feed(page)
    return reader.tables


def test_notebooks_get_text_and_tables(result: tuple[Any, str]) -> None:
    shown, part = result
    bundle = shown._repr_mimebundle_()
    assert bundle["text/plain"] == str(shown)
    grids = cells(bundle["text/html"])
    assert len(grids) >= 1
    assert part in str(grids)
    for table in grids:
        assert len({len(row) for row in table}) == 1
        assert len(table) > 1


def test_it_is_shown_where_one_is(
    result: tuple[Any, str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    shown, _ = result
    shown.show()
    assert capsys.readouterr().out == f"{shown}\n"
    displayed: list[Any] = []
    shell = SimpleNamespace(get_ipython=lambda: SimpleNamespace(kernel=1))
    monkeypatch.setitem(sys.modules, "IPython", shell)  # type: ignore[arg-type]
    monkeypatch.setitem(sys.modules, "IPython.display", SimpleNamespace(display=displayed.append))  # type: ignore[arg-type]
    shown.show()
    assert displayed == [shown]
    assert capsys.readouterr().out == ""


def test_the_ending_says_what_is_saved(result: tuple[Any, str], tmp_path: Path) -> None:
    shown, part = result
    texts = {}
    for ending in FORMS:
        shown.save(tmp_path / f"answer{ending}")
        texts[ending] = (tmp_path / f"answer{ending}").read_text(encoding="utf-8")
    assert texts[".txt"] == f"{shown}\n"
    page = texts[".html"]
    assert page.startswith("<!doctype html>")
    assert "default-src 'none'" in page
    assert "<script" not in page
    expected = [[list(t.headings), *map(list, t.rows)] for t in tables(shown)]
    assert cells(page) == expected
    lines = list(csv.reader(io.StringIO(texts[".tsv"]), delimiter="\t", quoting=csv.QUOTE_NONE))
    assert [len(row) for row in lines] == [len(row) for table in expected for row in table]
    assert texts[".md"].count("| --- |") >= len(expected)
    assert part in texts[".md"].replace("\\", "")
    with pytest.raises(ValueError, match="its ending must be one of") as raised:
        shown.save(tmp_path / "answer.htlm")
    assert ".html" in str(getattr(raised.value, "hint", ""))
    assert not (tmp_path / "answer.htlm").exists()


def test_a_clean_search_says_so_in_words() -> None:
    paddle.disable_static()
    x = paddle.to_tensor([1.0], stop_gradient=False)
    bundle = gradtool.nan(lambda: (x * x).sum())._repr_mimebundle_()
    assert bundle.keys() == {"text/plain"}
    assert bundle["text/plain"].startswith("clean: ")


def test_names_become_text_only(tmp_path: Path) -> None:
    w = paddle.static.create_parameter([2], "float32", name=HOSTILE)
    paddle.static.Executor().run(paddle.static.default_startup_program())
    story = gradtool.stats(paddle.mean(w * w))
    story.save(tmp_path / "stats.html")
    page = (tmp_path / "stats.html").read_text(encoding="utf-8")
    assert "<script" not in page
    assert cells(page)[0][1][0] == HOSTILE
    assert "<script" not in story._repr_mimebundle_()["text/html"]


def test_a_program_shows_and_saves_its_picture(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = static_loss().block.program
    program.save(tmp_path / "program.svg")
    assert (tmp_path / "program.svg").read_text(encoding="utf-8") == viz.graph(program).svg()
    displayed: list[Any] = []
    shell = SimpleNamespace(get_ipython=lambda: SimpleNamespace(kernel=1))
    monkeypatch.setitem(sys.modules, "IPython", shell)  # type: ignore[arg-type]
    monkeypatch.setitem(sys.modules, "IPython.display", SimpleNamespace(display=displayed.append))  # type: ignore[arg-type]
    program.show()
    assert [type(d).__name__ for d in displayed] == ["Picture"]


def test_answers_load_no_tables_before_they_are_shown() -> None:
    import subprocess

    code = (
        "import sys, gradtool\nfrom gradtool import paddle\n"
        "x = paddle.to_tensor([1.0], stop_gradient=False)\n"
        "story = gradtool.stats((x * x).sum())\n"
        "print('gradtool.viz.results' in sys.modules)\nstory.show()\nprint('gradtool.viz.results' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    lines = done.stdout.splitlines()
    assert (lines[0], lines[-1]) == ("False", "True")


def test_rich_prints_it_without_markup(result: tuple[Any, str]) -> None:
    from rich.console import Console

    shown, part = result
    console = Console(file=io.StringIO(), width=400, force_terminal=False)
    console.print(shown)
    printed = console.file.getvalue()  # type: ignore[attr-defined]
    assert part in printed
    for table in tables(shown):
        for row in table.rows:
            for cell in row:
                assert cell in printed, cell
