"""Sessions in files: saved, loaded without the model, replayed, refused when damaged."""

from __future__ import annotations

import contextlib
import json
import random
from importlib.resources import files
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest

from gradtool.engine.core.errors import FileFormatError
from gradtool.engine.core.rows import SelectedRows
from gradtool.engine.runs.timeline import Timeline
from gradtool.viz.debugger.errors import VerbError
from gradtool.viz.debugger.notebook import Notebook
from gradtool.viz.debugger.saved import comparison, lines, reader, writer
from gradtool.viz.debugger.saved.json_values import NoData, pack, unpack
from tests.viz.debugger.frontend_runs import book_over, hunt, looping, lowered, own_python, recorded, said

CELLS = {
    "hunt": [
        "catch nan",
        "c",
        "back 2",
        "fork guard",
        'set x@GRAD = np.where(np.isfinite(v["x@GRAD"]), v["x@GRAD"], 0)',
        "c",
        "compare base guard",
        "note it is the *root*",
        "n = 3",
        "n + v['h'].shape[0]",
        "arr = v['h'] * n",
        "f = lambda: 3",
        "p nothing",
        "break op:relu_grad if np.isfinite(dout).all()",
        "src 30",
        "bt",
        "x h@GRAD",
    ],
    "own python": ["goto %1", "finish", "stats", "goto hook.0", "p h@GRAD", "x k", "list 40", "zero h@GRAD", "finish"],
    "loop": [
        "goto %1",
        "catch nan",
        "c",
        "inside while.0",
        "inside while.0 2",
        "fork a",
        "zero x",
        "c",
        "compare base a",
    ],
    "good loop": ["goto %2", "set x = 2 * v['x']", "finish", "stats", "undo", "inside while_grad.0"],
}


def timeline_of(which: str) -> Timeline:
    if which == "hunt":
        return recorded(hunt)
    if which == "own python":
        return recorded(own_python)
    return lowered(lambda: looping(0.9 if which == "loop" else 0.05))


def book_of(which: str) -> Notebook:
    book = book_over(timeline_of(which))
    for line in CELLS[which]:
        book.execute(line)
    return book


def held(timeline: Timeline) -> dict[int, Any]:
    values = {}
    for number, array in timeline.store.items():
        if hasattr(array, "dtype"):
            values[number] = (np.asarray(array).dtype, np.asarray(array).tobytes())
    return values


@pytest.mark.parametrize("which", CELLS)
def test_a_session_comes_back_and_replays(which: str) -> None:
    book = book_of(which)
    text = writer.text(book)
    saved = reader.load(text, "s.jsonl", trust=True)
    before, after = book.session.timeline, saved.book.session.timeline
    had = held(before)
    assert {n: a for n, a in held(after).items() if n in had} == {n: a for n, a in had.items() if n in after.store}
    assert had.keys() <= held(after).keys() | {n for n in had if before.values[n].role == "constant"}
    assert [e.name for e in after.entries] == [e.name for e in before.entries]
    assert [(c.source, c.text, c.note, c.failed) for c in saved.book.cells] == [
        (c.source, c.text, c.note, c.failed) for c in book.cells
    ]
    replay = comparison.check(saved)
    assert replay.difference is None
    assert replay.kept == ()
    assert writer.text(book) == text


@pytest.mark.parametrize("which", CELLS)
def test_the_loaded_session_goes_on_where_it_was(which: str) -> None:
    book = book_of(which)
    loaded = reader.load(writer.text(book), "s.jsonl", trust=True).book
    for line in ("branches", "edits", "hits", "list 50", "stats", "rc", "fork more", "zero h@GRAD", "c", "cells"):
        assert said(loaded, line) == said(book, line), line


def test_what_stays_of_names_and_results() -> None:
    book = book_of("hunt")
    saved = reader.load(writer.text(book), "s.jsonl", trust=True)
    assert saved.lost == ["f"]
    assert saved.book.session.names["n"] == 3
    assert np.array_equal(saved.book.session.names["arr"], book.session.names["arr"])
    assert saved.book.outputs[10] == 6
    assert said(saved.book, "Out[10] + n") == "9"


def test_users_python_is_recalled_not_run() -> None:
    book = book_of("own python")
    text = writer.text(book)
    timeline = reader.load(text, "s.jsonl").book.session.timeline
    fixed = {e.type: e.fixed for e in timeline.entries if e.fixed}
    assert fixed.keys() == {"PyLayer_Cube_grad", "hook", "gaussian_random"}
    assert "user's own Python" in fixed["hook"]
    assert "random numbers" in fixed["gaussian_random"]


def test_other_values_do_not_get_past_the_users_python() -> None:
    loaded = reader.load(writer.text(book_of("own python")), "s.jsonl").book
    assert "end of the run" in said(loaded, "undo", "zero h@GRAD", "finish"), "it ran so before it was saved"
    text = said(loaded, "goto hook.0", "set h@GRAD = 7", "finish")
    assert "hook.0 cannot run again on other values: it is the user's own Python" in text
    assert "end of the run" in said(loaded, "undo", "finish")


def test_a_replay_tells_the_first_cell_that_differs() -> None:
    text = writer.text(book_of("hunt"))
    changed = text.replace("edited 12 elements", "edited 11 elements")
    assert changed != text
    difference = comparison.check(reader.load(changed, "s.jsonl", trust=True)).difference
    assert difference is not None
    assert difference.cell.number == 5
    assert str(difference).split("\n")[0].startswith("In [5]: set x@GRAD")
    assert "-edited 11 elements" in str(difference)
    assert "+edited 12 elements" in str(difference)


def test_a_replay_on_a_model_that_changed() -> None:
    saved = reader.load(writer.text(book_of("hunt")), "s.jsonl", trust=True)
    same = comparison.check(saved, book_over(recorded(hunt)))
    assert same.difference is None
    other = comparison.check(saved, book_over(recorded(own_python)))
    assert other.difference is not None


def test_a_replay_writes_no_files(tmp_path: Path) -> None:
    book = book_of("hunt")
    path = tmp_path / "again.jsonl"
    assert said(book, f"save {path}").startswith(f"saved {path} · ")
    path.unlink()
    said(book, "rerun 18", "expect-error p nothing")
    path.unlink()
    saved = reader.load(writer.text(book), "s.jsonl", trust=True)
    replay = comparison.check(saved)
    assert replay.difference is None
    assert replay.kept == (18, 19)
    assert not path.exists()


def test_a_replay_begins_with_the_stops_that_were_set_before() -> None:
    book = book_over(recorded(hunt))
    book.session.add("catch", "nan", limit=float("inf"))
    book.session.begin()
    said(book, "c", "hits")
    saved = reader.load(writer.text(book), "s.jsonl", trust=True)
    assert comparison.check(saved).difference is None
    assert "1 hit" in saved.book.cells[1].text


def test_a_budget_is_kept() -> None:
    whole, small = book_over(lowered(looping)), book_over(lowered(looping, budget=200))
    for book in (whole, small):
        said(book, "goto %1", "finish")
    assert small.session.timeline.store.dropped > 0
    assert said(small, "stats") == said(whole, "stats")
    saved = reader.load(writer.text(small), "s.jsonl", trust=True)
    assert saved.book.session.timeline.store.budget == 200
    assert comparison.check(saved).difference is None


def test_every_line_fits_the_schema() -> None:
    schema = json.loads((files("gradtool.cli") / "schemas" / "session.json").read_text(encoding="utf-8"))
    validator = jsonschema.Draft202012Validator(schema)
    kinds = set()
    for which in CELLS:
        for line in writer.text(book_of(which)).splitlines():
            record = json.loads(line)
            validator.validate(record)
            kinds.add(record.get("kind"))
    assert kinds == {None, *lines.KINDS}


def test_a_changed_program_is_refused() -> None:
    book = book_over(lowered(looping))
    program = book.session.timeline.lowered
    assert program is not None
    program.program.version += 1
    assert "was changed after it was recorded" in said(book, "save /nowhere/s.jsonl")


def test_what_cannot_be_written_is_said(tmp_path: Path) -> None:
    book = book_of("hunt")
    assert "cannot write" in said(book, f"save {tmp_path}")
    assert "save to which file?" in said(book, "save")
    assert list(tmp_path.iterdir()) == []


# -- damage -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "said_"),
    [
        (b"", "it is empty"),
        (b"\xff\xfe\n", "is not UTF-8"),
        (b"hello\n", "JSON"),
        (b"[1]\n", "a saved session"),
        (b'{"schema":"gradtool/session/2"}\n', "gradtool/session/2"),
        (b'{"schema":"gradtool/session/1"}', "cut short"),
        (b'{"schema":"gradtool/session/1"}\n', "of kind run"),
        (b'{"schema":"gradtool/session/1"}\n{"kind":"cell"}\n', "number"),
        (b'{"schema":"gradtool/session/1"}\n{"kind":"code"}\n', "'code'"),
    ],
)
def test_foreign_files_are_refused(data: bytes, said_: str) -> None:
    with pytest.raises(FileFormatError) as caught:
        reader.load(data, "s.jsonl")
    assert str(caught.value).startswith("s.jsonl")
    assert said_ in str(caught.value)


@pytest.mark.parametrize("which", ["own python", "loop"])
def test_a_shortened_file_is_refused(which: str) -> None:
    whole = writer.text(book_of(which)).splitlines(keepends=True)
    for cut in range(0, len(whole), 7):
        with pytest.raises(FileFormatError):
            reader.load("".join(whole[:cut] + whole[cut + 1 :]), "s.jsonl")
        with pytest.raises(FileFormatError):
            reader.load("".join(whole[:cut]), "s.jsonl")


@pytest.mark.parametrize("which", ["own python", "good loop"])
def test_a_damaged_file_loads_or_is_refused(which: str) -> None:
    text = writer.text(book_of(which)).encode()
    draw = random.Random(7)
    refused = 0
    for _ in range(60):
        at = draw.randrange(len(text))
        damaged = text[:at] + bytes([draw.choice(b'0123456789"[]{},:-xe')]) + text[at + 1 :]
        try:
            reader.load(damaged, "s.jsonl")
        except FileFormatError:
            refused += 1
    assert refused > 10


@pytest.mark.parametrize("which", ["own python", "good loop"])
def test_fields_of_other_types_are_refused_or_harmless(which: str) -> None:
    whole = [json.loads(line) for line in writer.text(book_of(which)).splitlines()]
    draw = random.Random(11)
    for _ in range(120):
        changed = json.loads(json.dumps(whole))
        line = draw.choice(changed[1:])
        name = draw.choice(sorted(line))
        line[name] = draw.choice([None, -7, 10**9, "x", [], {}, [1, 2], {"a": 1}, True, 0.5])
        with contextlib.suppress(FileFormatError):
            reader.load("".join(json.dumps(entry) + "\n" for entry in changed), "s.jsonl")


# -- values -----------------------------------------------------------------------------------------------------------


def fail(expected: str, came: str) -> Any:
    raise FileFormatError("value", expected, came)


@pytest.mark.parametrize(
    "value",
    [
        None,
        True,
        -3,
        "ü\n",
        1.5,
        float("inf"),
        2 - 1j,
        [1, (2, [3])],
        {"a": (1,), 2: None},
        np.float32(0.1),
        np.int64(-4),
        np.arange(6, dtype=np.int16).reshape(2, 3),
        np.arange(6.0).reshape(2, 3).T,
        np.zeros((0, 3), np.complex64),
        np.array(True),
        np.arange(4, dtype=">f4"),
        np.array([1, 2], np.uint64),
    ],
)
def test_values_come_back_to_the_bit(value: Any) -> None:
    back = unpack(json.loads(json.dumps(pack(value))), fail)
    assert type(back) is type(value)
    if isinstance(value, np.ndarray):
        assert back.dtype == value.dtype.newbyteorder("=")
        assert back.shape == value.shape
        assert np.array_equal(back, value)
        assert back.flags.f_contiguous == value.flags.f_contiguous
    else:
        assert back == value


def test_rare_values_come_back() -> None:
    from ml_dtypes import bfloat16

    array = np.array([1.5, -2], bfloat16)
    back = unpack(pack(array), fail)
    assert back.dtype == array.dtype
    assert np.array_equal(back, array)
    rows = SelectedRows(np.array([2, 0]), np.ones((2, 3), np.float32), 4)
    assert np.array_equal(np.asarray(unpack(pack(rows), fail)), np.asarray(rows))
    nan = unpack(pack(float("nan")), fail)
    assert nan != nan


@pytest.mark.parametrize("value", [object(), {1, 2}, lambda: 3, np.array([object()]), np.array(["a"]), {"f": len}])
def test_what_is_no_data_is_refused(value: Any) -> None:
    with pytest.raises(NoData, match="no data that a file could hold"):
        pack(value)


def test_what_is_no_data_among_edits_is_said() -> None:
    book = book_over(recorded(hunt))
    book.session.timeline.values[0].names = ()
    branch = book.session.branch
    number = book.session.number("h")
    branch.edit(number, object(), "set h = object()")
    with pytest.raises(VerbError, match="cannot be saved: set h = object"):
        writer.text(book)
