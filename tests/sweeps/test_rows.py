"""What comes of points: the same rows wherever they are carried out, and a row for whatever goes wrong."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarr

from gradtool.engine.core.command_errors import CommandError
from gradtool.engine.core.errors import FileFormatError
from gradtool.engine.kernels import choice
from gradtool.engine.kernels.backend import Backend
from gradtool.engine.script.processes import Over
from gradtool.engine.sweeps.axes import Axes
from gradtool.engine.sweeps.places import cluster, processes, this_process
from gradtool.engine.sweeps.places.cluster import Cluster
from gradtool.engine.sweeps.places.processes import ProcessRunner
from gradtool.engine.sweeps.ranges import Setting
from gradtool.engine.sweeps.spec import Spec
from gradtool.engine.sweeps.summaries import KINDS
from gradtool.engine.sweeps.sweep import Means, Sweep, SweepInterrupted
from tests.sweeps.conftest import Asked, lines, planted, statuses

ENDS = """\
import os, signal, time
import paddle


def build(n):
    if n == 1:
        raise ValueError("n is 1")
    if n == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    if n == 3:
        time.sleep(600)
    if n == 4:
        b"x" * (1 << 40)
    w = paddle.to_tensor([1.0], stop_gradient=False)
    return (w * float(n)).sum()
"""

LEAVES_TRACES = """\
import decimal, os, random, signal, sys, warnings
import gradtool
import numpy as np
import paddle
import counts


def build(n):
    here = [
        os.environ.get("TRACE"), os.path.basename(os.getcwd()), np.geterr()["over"], np.get_printoptions()["precision"],
        len(warnings.filters), paddle.get_flags("FLAGS_benchmark"), paddle.is_grad_enabled(), paddle.in_dynamic_mode(),
        paddle.get_default_dtype(), paddle.get_device(), random.random(), np.random.random(), paddle.rand([1]).item(),
        counts.points, sys.getrecursionlimit(), decimal.getcontext().prec, sys.excepthook is print, sys.path,
        signal.getsignal(signal.SIGTERM) is signal.SIG_IGN, str(paddle.to_tensor([1.23456789])),
        paddle.nn.Linear(1, 1).weight.item(), paddle.nn.Linear(1, 1).weight.name, gradtool.get_backend(), len(sys.argv),
        len(paddle.static.default_main_program().global_block().ops),
    ]
    os.environ["TRACE"] = str(n)
    os.chdir("/")
    np.seterr(over="raise")
    np.set_printoptions(precision=2)
    paddle.set_flags({"FLAGS_benchmark": True})
    paddle.set_default_dtype("float64")
    paddle.set_printoptions(precision=2)
    paddle.nn.initializer.set_global_initializer(paddle.nn.initializer.Constant(7.0))
    random.seed(3), np.random.seed(3), paddle.seed(3)
    counts.points += 1
    sys.setrecursionlimit(5000)
    decimal.getcontext().prec = 3
    sys.excepthook = print
    sys.argv.append("x"), sys.path.append("x")
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    paddle.enable_static()
    paddle.static.data("x", [1]) * 2.0
    gradtool.set_backend("other")
    warnings.simplefilter("error")
    paddle.set_grad_enabled(False)
    raise ValueError(repr(here))
"""


@pytest.mark.parametrize("question", KINDS)
def test_every_question_is_asked_in_both_modes(asked: Asked, question: str) -> None:
    swept = asked(question, models=("eager.py", "static.py"), data="data.npz", batches=(48,))
    found = {"gradcheck": "unchecked", "saved": "ok"}.get(question, "finding")
    assert statuses(swept) == ["ok", found, "ok", found]
    assert [row["rows"] for row in swept.rows] == [[0, 48], [48, 96]] * 2
    assert all(row["answer"] is not None and row["error"] is None for row in swept.rows)


def test_settings_are_arguments_or_words_of_a_script(asked: Asked, folder: Path) -> None:
    (folder / "script.py").write_text(
        "import sys, paddle\nw = paddle.ones([1])\nw.stop_gradient = False\n(w / float(sys.argv[2])).sum().backward()\n"
    )
    scales = (Setting("scale", ("1", "1e30")),)
    assert statuses(asked(data="data.npz", batches=(64,), settings=scales)) == ["ok", "finding", "finding", "finding"]
    swept = asked(models=("script.py",), settings=(Setting("by", ("0", "2")),), loading={"script": ["--by", "{by}"]})
    assert statuses(swept) == ["finding", "ok"]


def test_points_of_one_process_share_nothing_that_a_model_sets(
    asked: Asked, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(choice._Process.loaded, "other", Backend("other", np, ("numpy",)))
    (folder / "traces.py").write_text(LEAVES_TRACES)
    (folder / "counts.py").write_text("points = 0\n")
    swept = asked(models=("traces.py",), settings=(Setting("n", ("1", "2", "3")),))
    first, *others = (row["error"] for row in swept.rows)
    assert first.startswith("traces.py raised ValueError: [None, ")
    assert others == [first, first]


def test_seeds_reach_the_model(asked: Asked) -> None:
    norms = [
        row["answer"]["norm"]
        for row in asked("stats", feeds=("data.npz",), models=("static.py",), seeds=(1, 2, 1)[:2]).rows
    ]
    assert norms == [None, None]
    told = asked("stats", data="data.npz", batches=(48,), seeds=(1, 2)).rows
    assert told[0]["answer"]["norm"] != told[2]["answer"]["norm"]


def test_arrays_that_nothing_takes_are_an_error(asked: Asked, folder: Path) -> None:
    (folder / "other.py").write_text("import paddle\nx = paddle.ones([2])\nx.stop_gradient = False\nloss = x.sum()\n")
    for question in ("nan", "stats"):
        with pytest.raises(CommandError, match=r"other.py takes no arrays"):
            asked(question, models=("other.py",), data="data.npz", batches=(48,))
    (folder / "other.py").write_text("def build(x):\n    return x.sum()\n")
    with pytest.raises(CommandError, match=r"unknown argument of build\(\): 'label'"):
        asked(models=("other.py",), data="data.npz", batches=(48,))


def test_options_are_of_their_question(asked: Asked) -> None:
    with pytest.raises(CommandError, match="--big is no option of stats"):
        asked("stats", options={"big": 1.0}, seeds=(0, 1))
    with pytest.raises(CommandError, match="unknown question 'nam'"):
        asked("nam", seeds=(0, 1))


def test_a_point_that_ends_its_process_is_a_row(asked: Asked, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "ATTEMPTS", 2)
    (folder / "ends.py").write_text(ENDS)
    values = Setting("n", ("5", "1", "2", "4", "6", "3"))
    swept = asked("stats", models=("ends.py",), settings=(values,), memory=1 << 30, timeout=5.0)
    assert statuses(swept) == ["ok", "error", "crashed", "memory", "ok", "timeout"]
    assert [row["error"] for row in swept.rows if row["status"] not in ("ok", "memory")] == [
        "ends.py raised ValueError: n is 1",
        "the process that it ran in ended with SIGKILL, 2 times",
        "no answer after 5 seconds",
    ]


def test_a_sweep_goes_on_where_it_was_interrupted(asked: Asked, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = asked(data="data.npz", batches=(8,))
    carried = this_process.compute_row
    count = iter(range(99))

    def pressed(*point: object) -> object:
        if next(count) == 5:
            raise KeyboardInterrupt
        return carried(*point)  # type: ignore[arg-type]

    with monkeypatch.context() as patch:
        patch.setattr(this_process, "compute_row", pressed)
        with pytest.raises(SweepInterrupted) as stop:
            asked(data="data.npz", batches=(8,), results="r.jsonl")
    assert len(stop.value.swept.rows) == 5
    assert not stop.value.swept.complete
    with open("r.jsonl", "a", encoding="utf-8") as file:
        file.write('{"key":"cut sh')
    with pytest.raises(CommandError, match="holds the rows of a sweep already"):
        asked(data="data.npz", batches=(8,), results="r.jsonl")
    resumed = asked(data="data.npz", batches=(8,), results="r.jsonl", resume=True)
    assert (resumed.known, resumed.complete, resumed.subset) == (5, True, whole.subset)
    text = (folder / "r.jsonl").read_text(encoding="utf-8")
    assert sorted(text.splitlines(keepends=True)) == lines(whole) == lines(resumed)
    assert asked(data="data.npz", batches=(8,), results="r.jsonl", resume=True).known == 12


@pytest.fixture
def sound(folder: Path) -> str:
    """A file of 96 rows without a bad one: no point of it is asked again for the smallest part."""
    np.savez(folder / "sound.npz", x=np.ones((96, 4), "float32"), label=np.ones((96, 1), "float32"))
    return "sound.npz"


def test_what_the_machine_refused_is_asked_again(asked: Asked, folder: Path, sound: str) -> None:
    planned = asked(data=sound, batches=(48,))
    late = {**planned.rows[0], "status": "timeout", "answer": None, "error": "late"}
    (folder / "r.jsonl").write_text(json.dumps(late) + "\n", encoding="utf-8")
    assert asked(data=sound, batches=(48,), results="r.jsonl", resume=True).known == 0
    (folder / "r.jsonl").write_text('{"other": 1}\n', encoding="utf-8")
    with pytest.raises(FileFormatError, match=r"r.jsonl:1: expected question: one of nan, .*, but it is missing"):
        asked(data=sound, batches=(48,), results="r.jsonl", resume=True)


def test_a_last_row_that_was_cut_short_is_asked_again(asked: Asked, folder: Path, sound: str) -> None:
    whole = asked(data=sound, batches=(16,), results="r.jsonl")
    text = (folder / "r.jsonl").read_bytes()
    for cut in (1, 20, len(text.splitlines()[-1])):
        (folder / "r.jsonl").write_bytes(text[:-cut])
        resumed = asked(data=sound, batches=(16,), results="r.jsonl", resume=True)
        assert (resumed.torn, resumed.known) == (True, len(whole.rows) - 1)
        assert resumed.rows == whole.rows
        assert sorted((folder / "r.jsonl").read_bytes().splitlines()) == sorted(text.splitlines())
    assert not asked(data=sound, batches=(16,), results="r.jsonl", resume=True).torn


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"seed": 7}, "expected seed 0, for which its key stands, but it is 7"),
        ({"rows": [0, 1]}, "expected rows"),
        ({"set": {"lr": "1"}}, "expected set"),
        ({"set": {"lr": 1}}, "expected set.lr: a text, but it is 1"),
        ({"answer": {}}, "expected answer.births"),
        ({"answer": None}, "expected an answer, or the error in its place"),
        ({"status": "fine"}, "expected status: one of ok, finding"),
        ({"findings": -1}, "expected findings: a whole number from 0"),
        ({"question": "what"}, "expected question"),
        ({"feed": None}, "expected the file that rows are of"),
        ({"rows": [3, 3]}, "expected rows"),
    ],
)
def test_rows_that_were_changed_are_not_believed(
    asked: Asked, folder: Path, sound: str, change: dict[str, object], said: str
) -> None:
    whole = asked(data=sound, batches=(48,))
    (folder / "r.jsonl").write_text(json.dumps({**whole.rows[0], **change}) + "\n", encoding="utf-8")
    with pytest.raises(FileFormatError, match=said):
        asked(data=sound, batches=(48,), results="r.jsonl", resume=True)


def test_a_file_may_have_another_path_by_now(asked: Asked, folder: Path) -> None:
    asked(data="data.npz", batches=(48,), results="r.jsonl")
    resumed = asked(data="./data.npz", batches=(48,), results="r.jsonl", resume=True)
    assert resumed.known == 2
    assert {row["feed"] for row in resumed.rows} == {"./data.npz"}


def test_the_bad_row_among_many_is_found_with_its_number(asked: Asked, folder: Path) -> None:
    planted(folder / "many.npz", 100_000, 61_234)
    swept = asked(models=("static.py",), data="many.npz", batches=(10_000,))
    assert statuses(swept).index("finding") == 6
    assert swept.subset is not None
    assert swept.subset.rows == (61_234,)
    assert swept.subset.runs < 40


def test_a_store_of_zarr_answers_as_its_arrays_do(asked: Asked, folder: Path) -> None:
    """Read here for the number of rows, and by the process that carries out the points."""
    group = zarr.create_group("data.zarr")
    with np.load("data.npz") as arrays:
        for name, array in arrays.items():
            group.create_array(name, data=array, chunks=(10, array.shape[1]))
    plain = asked(data="data.npz", batches=(48,))
    swept = asked(data="data.zarr", batches=(48,), timeout=600.0)
    assert [row["answer"] for row in swept.rows] == [row["answer"] for row in plain.rows]
    assert statuses(swept) == ["ok", "finding"]
    assert swept.subset is not None
    assert swept.subset.rows == (77,)


def test_workers_give_the_same_bytes_and_outlive_what_ends_their_processes(
    asked: Asked, monkeypatch: pytest.MonkeyPatch
) -> None:
    sequential = asked(data="data.npz", batches=(3,))
    rows = ProcessRunner.rows
    killed = []

    def killing(self: ProcessRunner, *asked: object) -> object:
        for number, row in enumerate(rows(self, *asked)):  # type: ignore[arg-type]
            if number == 2 and not killed:
                process = self._process._process
                assert process is not None
                killed.append(process.pid)
                os.kill(process.pid, signal.SIGKILL)
            yield row

    monkeypatch.setattr(ProcessRunner, "rows", killing)
    swept = asked(data="data.npz", batches=(3,), jobs=2)
    assert killed
    assert lines(swept) == lines(sequential)
    assert swept.subset == sequential.subset


def test_ctrl_c_ends_workers_and_leaves_what_was_done(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[ProcessRunner] = []
    spec, axes = Spec(question="nan"), Axes(models=("eager.py",), data="data.npz", batches=(3,))
    late: list[dict[str, Any]] = []
    submit = Cluster._submit

    def noting(self: Cluster, *group: Any) -> None:
        late.append({**self._job, "points": []})
        submit(self, *group)

    monkeypatch.setattr(Cluster, "_submit", noting)

    def press(done: int, total: int) -> None:
        begun.extend(carrier for carrier in cluster._carriers.values() if carrier not in begun)
        if done > 1:
            raise KeyboardInterrupt

    with pytest.raises(SweepInterrupted) as stop:
        Sweep(spec=spec, axes=axes, means=Means(jobs=2), results="r.jsonl").ask(press)
    rows = (folder / "r.jsonl").read_text(encoding="utf-8").splitlines()
    assert 1 < len(rows) == len(stop.value.swept.rows) < 32
    assert begun
    assert not cluster._carriers
    assert not any(carrier._process.runs for carrier in begun)
    with pytest.raises(Over):  # a group that a worker begins on now gets no process
        cluster.compute_group(late[0])
    assert not cluster._carriers
