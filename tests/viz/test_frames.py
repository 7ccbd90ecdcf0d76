"""``to_pandas``: rows of answers with a stand-in for pandas, and a plain error without it."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import gradtool
from gradtool.engine.core.errors import UsageError
from gradtool.viz.table import TextTable

MODEL = """\
import paddle

body, lost = paddle.nn.Linear(2, 3), paddle.nn.Linear(2, 3)
x = paddle.ones([4, 2])
loss = (body(x) + lost(x).detach()).tanh().sum()
"""


class DataFrame:
    """Columns by their headings; all of one length, as pandas asks for."""

    def __init__(self, columns: dict[str, list[Any]]) -> None:
        assert len({len(c) for c in columns.values()}) <= 1
        self.columns = columns


@pytest.fixture
def pandas(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", SimpleNamespace(DataFrame=DataFrame))


@pytest.fixture
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    (tmp_path / "models").mkdir()
    (tmp_path / "models/net.py").write_text(MODEL, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return gradtool.load("models/net.py")


@pytest.mark.usefixtures("pandas")
def test_rows_and_their_members(model: Any) -> None:
    columns = model.backward().to_pandas().columns
    assert columns["python_name"][:2] == ["body.weight", "body.bias"]
    assert columns["status"][:2] == ["ok", "ok"]
    assert columns["source.file"][0] == "models/net.py"
    assert columns["source.line"][0] == 3
    assert columns["values.elements"][0] == 6
    assert "values" not in columns
    lost = columns["python_name"].index("lost.weight")
    assert (columns["gradient"][lost], columns["values.norm"][lost]) == (None, None)


@pytest.mark.usefixtures("pandas")
@pytest.mark.parametrize(
    ("question", "column"),
    [
        (lambda m: m.why(), "verdict"),
        (lambda m: m.stats(), "gradient.norm"),
        (lambda m: m.saved(), "bytes"),
        (lambda m: m.profile(repeats=1), "shares.forward"),
        (lambda m: m.gradcheck(), "status"),
        (lambda m: m.where("tanh"), "source.line"),
        (lambda m: m.operators(), "op"),
    ],
)
def test_every_answer_has_rows(model: Any, question: Any, column: str) -> None:
    columns = question(model).to_pandas().columns
    assert columns[column]


@pytest.mark.usefixtures("pandas")
def test_an_answer_without_rows_is_an_empty_table(model: Any) -> None:
    assert model.nan().to_pandas().columns == {}


@pytest.mark.usefixtures("pandas")
def test_tables_of_text_have_numbers_where_all_cells_are() -> None:
    table = TextTable("t", ["name", "norm", "mixed"], [["a", "1.5", "1"], ["b", "–", "x"]])
    assert table.to_pandas().columns == {"name": ["a", "b"], "norm": [1.5, None], "mixed": ["1", "x"]}


def test_without_pandas_there_is_a_plain_error(model: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(UsageError, match="pandas is not installed"):
        model.why().to_pandas()


def test_objects_in_json_are_objects_in_python(model: Any) -> None:
    """A source is the text that people read, and has a file and a line."""
    answer = model.backward()
    row, told = answer.rows[0], answer.data["parameters"][0]
    assert (row.source, row.source.file, row.source.line) == ("net.py:3", "models/net.py", 3)
    assert told["source"] == {"file": row.source.file, "line": row.source.line}
    assert told["values"]["norm"] == row.values.norm
    verdict = model.why()[0]
    assert (verdict.source, verdict.source.file) == ("net.py:5", "models/net.py")
    assert answer.data["model"] == "models/net.py"
    whole = model.why("lost.weight")[0]
    assert [s.name for s in whole.shared] == [s["name"] for s in whole.data()["shared"]]


def test_a_file_outside_the_working_folder_has_its_whole_path(model: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    inside = Path.cwd()
    monkeypatch.chdir(inside / "models")
    assert gradtool.load("net.py").backward().rows[0].source.file == "net.py"
    (inside / "other").mkdir()
    monkeypatch.chdir(inside / "other")
    answer = gradtool.load(str(inside / "models/net.py")).backward()
    assert answer.rows[0].source.file == str(inside / "models/net.py")
    assert answer.data["model"] == str(inside / "models/net.py")
