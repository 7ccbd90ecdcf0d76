"""What a sweep goes through, what its answers are known by, and what cannot be gone through."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarr

from gradtool.engine.core.command_errors import CommandError
from gradtool.engine.data import arrays
from gradtool.engine.data.row_subset import Portion
from gradtool.engine.kernels import choice
from gradtool.engine.kernels.backend import Backend
from gradtool.engine.sweeps import axes, content, ranges
from gradtool.engine.sweeps.axes import Axes
from gradtool.engine.sweeps.point import Point
from gradtool.engine.sweeps.ranges import Setting
from gradtool.engine.sweeps.spec import Spec


def test_seeds_are_ranges_and_lists() -> None:
    assert ranges.seeds("0..3") == (0, 1, 2, 3)
    assert ranges.seeds("7, 1..2") == (7, 1, 2)


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("lr=1e-4..1e-1:log:4", ("0.0001", "0.001", "0.01", "0.1")),
        ("lr=0..1:lin:3", ("0", "0.5", "1")),
        ("lr=1..-1:lin:3", ("1", "0", "-1")),
        ("n=2..4", ("2", "3", "4")),
        ("act=relu,tanh", ("relu", "tanh")),
        ("x=-1.5", ("-1.5",)),
    ],
)
def test_settings(text: str, values: tuple[str, ...]) -> None:
    assert ranges.parse_setting(text) == Setting(text.partition("=")[0], values)


@pytest.mark.parametrize(
    ("read", "text", "said"),
    [
        (ranges.seeds, "9..0", "9 is larger than 0"),
        (ranges.seeds, "a..b", "'a..b' is no seed"),
        (ranges.seeds, "1,1", "1 comes twice"),
        (ranges.seeds, "0..99999999", "100000000 points"),
        (ranges.parse_setting, "lr", "expected NAME=VALUES"),
        (ranges.parse_setting, "lr=", "expected NAME=VALUES"),
        (ranges.parse_setting, "lr=1..2:cube:3", "'cube' is no spacing"),
        (ranges.parse_setting, "lr=0..1:log:3", "above 0"),
        (ranges.parse_setting, "lr=a..1:lin:3", "'a' is no finite number"),
        (ranges.parse_setting, "lr=0..1:lin:1", "no number of values"),
        (ranges.parse_setting, "lr=0.5..1", "how many values"),
        (ranges.parse_setting, "lr=1,,2", "a value is empty"),
        (ranges.batches, "data.npz:0", "'0' is no size"),
        (ranges.batches, "data.npz:", "'' is no size"),
    ],
)
def test_nonsense_is_an_error_that_says_what_is_expected(read: object, text: str, said: str) -> None:
    assert callable(read)
    with pytest.raises(CommandError, match=said):
        read(text)


def test_rows_come_in_batches() -> None:
    assert ranges.batches("d.npz") == ("d.npz", (1,))
    assert ranges.batches("d.npz:8,32") == ("d.npz", (8, 32))
    assert ranges.batches("s3://bucket/d.npz") == ("s3://bucket/d.npz", (1,))


def test_every_value_is_combined_with_every_other(folder: Path) -> None:
    points = Axes(models=("a", "b"), seeds=(0, 1), settings=(Setting("n", ("1", "2")),), feeds=("data.npz",)).points()
    assert len(points) == len(set(points)) == 8
    assert points[0] == Point("a", 0, (("n", "1"),), Portion("data.npz"))
    rows = [p.portion.rows for p in Axes(models=("a",), data="data.npz", batches=(40,)).points() if p.portion]
    assert rows == [(0, 40), (40, 80), (80, 96)]
    assert Point.read(points[0].job()) == points[0]


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"data": "none.npz", "batches": (1,)}, "no such file: none.npz"),
        ({"data": "data.txt", "batches": (1,)}, "arrays are read from .npz"),
        ({"data": "data.npz", "batches": (97,)}, "batches of 97, and there are 96 rows"),
        ({"data": "uneven.npz", "batches": (1,)}, "x has 3, y has 4"),
        ({"data": "number.npz", "batches": (1,)}, "a single number"),
        ({"settings": (Setting("n", ("1",)), Setting("n", ("2",)))}, "--set n comes twice"),
    ],
)
def test_what_cannot_be_gone_through(folder: Path, more: dict[str, object], said: str) -> None:
    (folder / "data.txt").write_text("1", encoding="utf-8")
    np.savez("uneven.npz", x=np.zeros(3), y=np.zeros(4))
    np.savez("number.npz", x=np.zeros(()))
    with pytest.raises(CommandError, match=said):
        Axes(models=("eager.py",), **more).points()  # type: ignore[arg-type]


def test_an_empty_pattern_is_an_error(folder: Path) -> None:
    assert axes.models(["x.py"], ["*.py"]) == ("x.py", "eager.py", "static.py")
    with pytest.raises(CommandError, match=r"--models zoo/\*.py: no such file"):
        axes.models([], ["zoo/*.py"])
    with pytest.raises(CommandError, match="which model"):
        axes.models([], [])


def test_keys_follow_contents_and_nothing_else(folder: Path) -> None:
    spec = Spec(question="nan")
    point = Point("eager.py", 0, (), Portion("data.npz", (0, 8)))

    def key(at: Point = point, asked: Spec = spec) -> str:
        return Axes(models=("eager.py",)).key(asked, at)

    before = key()
    (folder / "data.npz").touch()
    assert key() == before
    assert key(Point("eager.py", 1, (), point.portion)) != before
    assert key(Point("eager.py", 0, (("scale", "2"),), point.portion)) != before
    assert key(Point("eager.py", 0, (), Portion("data.npz", (0, 9)))) != before
    assert key(asked=Spec(question="nan", options={"order": 2})) != before
    (folder / "helper.py").write_text("x = 1\n", encoding="utf-8")
    (folder / "eager.py").write_text("import helper\n", encoding="utf-8")
    changed = key()
    (folder / "helper.py").write_text("x = 2\n", encoding="utf-8")
    assert len({before, changed, key()}) == 3


def test_arrays_are_read_by_rows_from_every_kind_of_file(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import pyarrow
    from pyarrow import parquet

    x = np.arange(12, dtype=">f4").reshape(6, 2)
    np.savez("a.npz", x=x)
    np.savez_compressed("b.npz", x=x)
    np.save("c.npy", x)
    parquet.write_table(pyarrow.table({"x": [row.tolist() for row in x], "n": range(6)}), "d.parquet")
    stored("e.zarr", x=x, n=np.arange(6))
    stored("f.zarr", "train", x=x)
    zarr.create_array("g.zarr", data=x, chunks=(4, 1))
    local = "a.npz", "b.npz", "c.npy", "d.parquet", "e.zarr", "f.zarr/train", "g.zarr"
    for path in (*local, f"file://{folder}/a.npz", f"file://{folder}/c.npy", f"file://{folder}/e.zarr"):
        assert arrays.length(path) == 6
        taken = arrays.take(Portion(path, (2, 4)))
        first = taken.get("x", taken.get(None))
        assert first is not None
        assert first.dtype.isnative
        assert first.flags.writeable
        assert np.array_equal(first, x[2:4])
        taken = arrays.take(Portion(path, (2, 4)), (5, 5, 0))
        chosen = taken.get("x", taken.get(None))
        assert chosen is not None
        assert np.array_equal(chosen, x[[5, 5, 0]])
    monkeypatch.setitem(sys.modules, "zarr", None)
    arrays._open_as.cache_clear()
    with pytest.raises(CommandError, match="zarr, which is not installed"):
        arrays.length("e.zarr")


def stored(path: str, group: str = "", **told: np.ndarray[Any, Any]) -> None:
    """Arrays in a Zarr store, in chunks of four rows."""
    target = zarr.open_group(path, path=group)
    for name, array in told.items():
        target.create_array(name, data=array, chunks=(4, *array.shape[1:]))


def test_stores_that_hold_no_rows_are_errors_that_say_why(folder: Path) -> None:
    def refused(path: str, why: str) -> CommandError:
        with pytest.raises(CommandError, match=why) as told:
            arrays.length(path)
        return told.value

    x = np.zeros((4, 2), "float32")
    refused("none.zarr", "no such file|No such file")
    (folder / "empty.zarr").mkdir()
    refused("empty.zarr", "no array and no group of Zarr is there")
    (folder / "file.zarr").write_text("x")
    refused("file.zarr", "no array and no group of Zarr is there")
    stored("groups.zarr", "train", x=x)
    stored("groups.zarr", "test", x=x)
    assert refused("groups.zarr", r"groups\.zarr holds no arrays").hint == (
        "it has groups: groups.zarr/test, groups.zarr/train"
    )
    refused("groups.zarr/training", "No such file")
    stored("ragged.zarr", x=x, label=x[:3])
    refused("ragged.zarr", "different numbers of rows: label has 3, x has 4")
    zarr.create_array("number.zarr", data=np.array(3.0))
    refused("number.zarr", "its array is a single number")
    stored("damaged.zarr", x=x + 1)
    (folder / "damaged.zarr/x/c/0/0").write_bytes(b"xx")
    with pytest.raises(CommandError, match=r"cannot read damaged\.zarr: "):
        arrays.take(Portion("damaged.zarr", (0, 2)))
    (folder / "damaged.zarr/x/zarr.json").write_text("{")
    refused("damaged.zarr", r"cannot read damaged\.zarr: ")


def test_a_store_that_changes_is_read_anew(folder: Path) -> None:
    stored("a.zarr", x=np.zeros((4, 2)))
    assert arrays.length("a.zarr") == 4
    before = arrays.identity("a.zarr")
    zarr.open_array("a.zarr", path="x", mode="r+").append(np.ones((1, 2)))
    assert arrays.length("a.zarr") == 5
    assert arrays.identity("a.zarr") != before
    assert np.array_equal(arrays.take(Portion("a.zarr", (3, 5)))["x"], [[0, 0], [1, 1]])


def test_arrays_behind_a_protocol_are_read_and_known_by_what_they_hold(folder: Path) -> None:
    import fsspec

    memory = fsspec.filesystem("memory")
    memory.pipe("/sweep/a.npz", (folder / "data.npz").read_bytes())
    with np.load("data.npz") as told:
        x = told["x"]
    assert arrays.length("memory://sweep/a.npz") == 96
    assert np.array_equal(arrays.take(Portion("memory://sweep/a.npz", (5, 8)))["x"], x[5:8])
    assert axes.files("memory://sweep/*.npz", "--over") == ["memory:///sweep/a.npz"]
    with pytest.raises(CommandError, match=r"--over memory://sweep/\*.npy: no such file"):
        axes.files("memory://sweep/*.npy", "--over")
    with pytest.raises(CommandError, match=r"cannot read memory://sweep/none\.npz"):
        arrays.length("memory://sweep/none.npz")
    with pytest.raises(CommandError, match=r"nobody://a.npz: Protocol not known"):
        arrays.length("nobody://a.npz")
    memory.pipe("/sweep/f.zarr/x/c/0", b"1")
    before = arrays.identity("memory://sweep/f.zarr")
    assert arrays.identity("memory://sweep/f.zarr") == before
    memory.pipe("/sweep/f.zarr/x/c/0", b"23")
    assert arrays.identity("memory://sweep/f.zarr") != before
    memory.rm("/sweep", recursive=True)


def test_sides_that_differ_are_told_with_both(folder: Path) -> None:
    content.must_agree({"numpy": "2.0"}, {"numpy": "2.0"}, "tcp://a:1")
    with pytest.raises(CommandError, match=r"numpy: 2\.0 here, and 1\.9 at tcp://a:1"):
        content.must_agree({"numpy": "2.0"}, {"numpy": "1.9"}, "tcp://a:1")


def test_answers_of_another_backend_are_other_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    here = content.versions()
    monkeypatch.setattr(choice, "current", lambda: Backend("other", np, ("numpy",)))
    assert content.versions() == {**here, "backend": "other"} != here
