"""The files of a sweep: each holds every point."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from gradtool.engine.sweeps.ranges import Setting
from gradtool.engine.sweeps.spread import usual
from gradtool.engine.sweeps.sweep import Swept
from gradtool.viz.sweeps.forms import FORMS, must_be_there
from gradtool.viz.sweeps.long_form import columns
from tests.sweeps.conftest import Asked, asked, folder

__all__ = ["asked", "folder"]


@pytest.fixture
def swept(asked: Asked) -> Swept:
    return asked("stats", data="data.npz", batches=(24,), seeds=(0, 1), settings=(Setting("scale", ("1", "2")),))


def test_lines_and_tables_have_every_point(swept: Swept, folder: Path) -> None:
    from pyarrow import parquet

    lines = FORMS[".jsonl"](swept)
    assert isinstance(lines, str)
    assert [json.loads(line) for line in lines.splitlines()] == list(swept.rows)
    text = FORMS[".csv"](swept)
    assert isinstance(text, str)
    head, *rows = csv.reader(io.StringIO(text))
    assert head == list(columns(swept))
    assert len(rows) == 2 * len(swept.rows) == 32
    content = FORMS[".parquet"](swept)
    assert isinstance(content, bytes)
    must_be_there(".parquet")
    table = parquet.read_table(io.BytesIO(content))
    assert (table.num_rows, table.column_names) == (32, head)
    assert set(table["set.scale"].to_pylist()) == {"1", "2"}


def test_pictures_show_what_there_is(asked: Asked, swept: Swept) -> None:
    from xml.etree import ElementTree

    text = FORMS[".svg"](swept)
    assert isinstance(text, str)
    assert text == FORMS[".svg"](swept)
    ElementTree.fromstring(text)
    for words in ("16 points: 12 ok · 4 finding", "median ‖g‖ over scale", "‖g‖ over the points", "‖g‖ of each point"):
        assert words in text
    verdicts = FORMS[".svg"](asked("nan", data="data.npz", batches=(24,)))
    assert isinstance(verdicts, str)
    assert verdicts.count("<rect") == 1 + 4
    assert "‖g‖" not in verdicts


def test_the_page_lists_the_points_to_look_at(swept: Swept) -> None:
    page = FORMS[".html"](swept)
    assert isinstance(page, str)
    assert "Points to look at" in page
    assert all(row["key"] in page for row in swept.rows if row["status"] != "ok")
    assert "<script" not in page


def test_an_outlier_of_the_page_has_an_anchor_and_the_command_that_shows_it(asked: Asked, folder: Path) -> None:
    (folder / "seeded.py").write_text(
        "import paddle\ndef build():\n    w = paddle.ones([1])\n    w.stop_gradient = False\n"
        "    return (w * (1.0 + paddle.rand([1]) ** 40 * 1e6)).sum()\n"
    )
    swept = asked("stats", models=("seeded.py",), seeds=tuple(range(24)))
    (group,) = usual(swept.rows)
    page = FORMS[".html"](swept)
    assert isinstance(page, str)
    assert group.outliers
    for outlier in group.outliers:
        row = swept.rows[outlier.number]
        assert f'<tr id="point-{row["key"]}">' in page
        assert f"gradtool stats seeded.py --seed {row['seed']}<" in page
