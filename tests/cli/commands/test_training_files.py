"""``stats --steps`` as files: a heat map, CSV, Parquet, event files."""

from __future__ import annotations

import csv
import io
import json
import re
import sys
from pathlib import Path

import pyarrow.parquet
import pytest
from tensorboardX.proto.event_pb2 import Event

import gradtool as library
from gradtool.viz.over_time.event_files import NAME
from gradtool.viz.over_time.long_form import COLUMNS
from tests.cli.conftest import Run, Write

ROOT = Path(__file__).parents[3]

TRAINING = """\
import paddle
import paddle.nn.functional as F
paddle.seed(1)
net = paddle.nn.Linear(2, 1)
late = paddle.nn.Linear(1, 1)
opt = paddle.optimizer.SGD(0.1, parameters=[*net.parameters(), *late.parameters()])
for step in range(4):
    h = net(paddle.randn([4, 2]))
    loss = (late(h) if step > 1 else h).square().mean()
    if step == 3:
        loss = loss / 0.0
    loss.backward()
    opt.step()
    opt.clear_grad()
"""


@pytest.fixture
def training(model: Write) -> str:
    return model(TRAINING)


def test_csv_has_a_row_for_each_step_and_parameter(gradtool: Run, training: str, folder: Path) -> None:
    done = gradtool("stats", training, "--steps", "9", "-q", "--format", "csv")
    assert done.code == 0, done.err
    rows = list(csv.DictReader(io.StringIO(done.out)))
    assert [*rows[0]] == [*COLUMNS]
    assert [(r["step"], r["name"]) for r in rows[:5]] == [
        ("1", "net.weight"),
        ("1", "net.bias"),
        ("1", "late.weight"),
        ("1", "late.bias"),
        ("2", "net.weight"),
    ]
    assert len(rows) == 16
    told = json.loads(gradtool("stats", training, "--steps", "9", "-q", "--format", "json").out)
    points = {row["name"]: row["points"] for row in told["rows"]}
    for row in rows:
        point = points[row["name"]][int(row["step"]) - 1]
        if point is None:
            assert row["norm"] == row["zeros"] == row["update"] == ""
        elif point["norm"] is None:
            assert row["norm"] == "nan"
        else:
            assert float(row["norm"]) == point["norm"]
            assert float(row["learning_rate"]) == told["steps"][0]["updates"][0]["rate"]
    assert gradtool("stats", training, "--steps", "9", "-q", "-o", "steps.csv").code == 0
    assert (folder / "steps.csv").read_text(encoding="utf-8") == done.out


def test_parquet_is_the_same_table(gradtool: Run, training: str, folder: Path) -> None:
    assert gradtool("stats", training, "--steps", "9", "-q", "-o", "steps.parquet").code == 0
    table = pyarrow.parquet.read_table(folder / "steps.parquet")
    assert table.column_names == [*COLUMNS]
    written = gradtool("stats", training, "--steps", "9", "-q", "--format", "csv").out
    for row, other in zip(table.to_pylist(), csv.DictReader(io.StringIO(written)), strict=True):
        assert {n: "" if v is None else str(v) for n, v in row.items()} == other


def records(data: bytes) -> list[Event]:
    """The events in a file: each between its length with a checksum, and another checksum."""
    events, at = [], 0
    while at < len(data):
        size = int.from_bytes(data[at : at + 8], "little")
        events.append(Event.FromString(data[at + 12 : at + 12 + size]))
        at += 12 + size + 4
    return events


def test_event_files_have_a_scalar_for_each_number(gradtool: Run, training: str, folder: Path) -> None:
    done = gradtool("stats", training, "--steps", "9", "-q", "--tensorboard", "runs/one")
    assert done.code == 0, done.err
    assert done.out.startswith("over time")
    data = (folder / "runs/one" / NAME).read_bytes()
    first, *events = records(data)
    assert first.file_version == "brain.Event:2"
    assert [e.step for e in events] == [1, 2, 3, 4]
    values = [{v.tag: v.simple_value for v in e.summary.value} for e in events]
    assert values[0].keys() == {
        "training/loss",
        "training/learning_rate",
        *(f"{kind}/net.{p}" for p in ("weight", "bias") for kind in KINDS),
    } - {"update_ratio/net.bias"}  # which is 0 at first
    assert "gradient_norm/late.weight" in values[2]
    assert values[3]["gradient_nonfinite/net.weight"] > 0
    assert gradtool("stats", training, "--steps", "9", "-q", "--tensorboard", "runs/two").code == 0
    assert (folder / "runs/two" / NAME).read_bytes() == data


KINDS = ("gradient_norm", "gradient_zeros", "gradient_nonfinite", "update_ratio")


@pytest.mark.parametrize(
    ("module", "options", "extra"),
    [("pyarrow", ["-o", "steps.parquet"], "parquet"), ("tensorboardX", ["--tensorboard", "runs"], "tensorboard")],
)
def test_what_is_not_installed_is_said(
    gradtool: Run,
    training: str,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    module: str,
    options: list[str],
    extra: str,
) -> None:
    for name in [n for n in sys.modules if n.partition(".")[0] == module]:
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.setitem(sys.modules, module, None)
    done = gradtool("stats", training, "--steps", "9", "-q", *options)
    assert done.code == 2
    assert f"pip install 'gradtool[{extra}]'" in done.err
    assert sorted(p.name for p in folder.iterdir()) == ["model.py"]


@pytest.mark.parametrize("options", [["-o", "heat.svg"], ["--format", "csv"], ["--tensorboard", "runs"]])
def test_forms_of_a_training_need_steps(gradtool: Run, training: str, options: list[str]) -> None:
    done = gradtool("stats", training, *options)
    assert done.code == 2
    assert "add --steps N" in done.err


def test_the_heat_map_is_written_where_it_is_asked_for(gradtool: Run, training: str, folder: Path) -> None:
    assert gradtool("stats", training, "--steps", "9", "-q", "-o", "heat.svg").code == 0
    text = (folder / "heat.svg").read_text(encoding="utf-8")
    assert text.startswith("<svg ")
    assert gradtool("stats", training, "--steps", "9", "-q", "--format", "svg").out == text


def test_python_saves_the_same_files(gradtool: Run, training: str, folder: Path) -> None:
    answer = library.load(training).over_time(steps=9)
    for ending in ("csv", "svg"):
        answer.save(f"steps.{ending}")
        command = gradtool("stats", training, "--steps", "9", "-q", "--format", ending)
        assert (folder / f"steps.{ending}").read_text(encoding="utf-8") == command.out
    answer.save("steps.html")
    with pytest.raises(ValueError, match=r"\.csv, \.parquet"):
        answer.save("steps.xlsx")


def told(svg: str) -> list[str]:
    """What a heat map says beside its numbers, which may differ in the last digit from machine to machine."""
    texts = re.findall(r"<(?:text|title)[^>]*>([^<]*)<", svg)
    return [re.sub(r"[-+.e\d]*\d", "#", text) for text in texts]


def test_the_picture_of_the_readme_is_current(gradtool: Run, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    command = "stats samples/train_digits.py --steps all -o"
    assert gradtool(*command.split(), str(folder / "train_digits.svg"), "-q").code == 0
    current = (folder / "train_digits.svg").read_text(encoding="utf-8")
    assert told(current) == told((ROOT / "samples/pictures/train_digits.svg").read_text(encoding="utf-8"))
    assert f"gradtool {command} samples/pictures/train_digits.svg" in (ROOT / "docs" / "tour.md").read_text(
        encoding="utf-8"
    )
