"""What is kept of a check, what makes it void, and what is never kept."""

from __future__ import annotations

import os
import random
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest

from gradtool.engine.gate import checking, pool, rules, usage
from gradtool.engine.gate.cache import ResultCache, _outermost
from gradtool.engine.gate.check import Check
from gradtool.engine.gate.check_result import CheckedModel, Job
from gradtool.engine.gate.selection import Selection
from gradtool.engine.gate.subject import Subject

NET = "import os, paddle\nloss = paddle.nn.Linear(4, {width})(paddle.rand([8, 4])).mean()\nloss.backward()\n"
KEPT = {
    "plain": NET.format(width=3),
    "module": "import helper\n" + NET.format(width="helper.WIDTH"),
    "data": "import numpy as np\nw = int(np.load('data.npy')[0])\n" + NET.format(width="w"),
    "variable": NET.format(width="int(os.environ.get('WIDTH', 3))"),
    "folder": NET.format(width="len(os.listdir('nets'))"),
    "exists": NET.format(width="3 if os.path.exists('checkpoint') else 2"),
    "writes": "open('made', 'w').write('3')\n" + NET.format(width="int(open('made').read())"),
    "waived": rules.every()["GT103"].wrong.replace(".detach()", ".detach()  # gradtool: ignore[GT103] meant"),
    "seeded": "import numpy as np, random\nrandom.random(), np.random.default_rng(0)\n" + NET.format(width=3),
}
NOT_KEPT = {
    "clock": "from time import time\nprint(time())\n",
    "pid": "import os\nprint(os.getpid())\n",
    "date": "import datetime\nprint(datetime.datetime.now())\n",
    "entropy": "import numpy as np\nprint(np.random.default_rng().random())\n",
    "seedless": "import random\nprint(random.Random().random())\n",
    "process": "import subprocess, sys\nsubprocess.run([sys.executable, '-S', '-c', ''], check=True)\n",
    "network": "import socket\nsocket.socket().close()\n",
    "raises": "open('later')\n",
}


def jobs(selection: Selection | None = None) -> dict[str, Job]:
    return {
        name: Job(subject=Subject(name=name, target=f"{name}.py"), selection=selection or Selection())
        for name in (*KEPT, *NOT_KEPT)
    }


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of models that were checked once."""
    folder = tmp_path_factory.mktemp("kept")
    for name, text in KEPT.items():
        (folder / f"{name}.py").write_text(text, encoding="utf-8")
    for name, text in NOT_KEPT.items():
        (folder / f"{name}.py").write_text(text + NET.format(width=2), encoding="utf-8")
    (folder / "helper.py").write_text("WIDTH = 3\n", encoding="utf-8")
    (folder / "nets").mkdir()
    (folder / "nets" / "a").touch()
    np.save(folder / "data.npy", [3])
    before = Path.cwd()
    os.chdir(folder)
    try:
        cache, todo = ResultCache(), [*jobs().values()]
        for job, result in zip(todo, pool.check(todo, 2), strict=True):
            cache.keep(job, result)
        cache.write()
    finally:
        os.chdir(before)
    return folder


@pytest.fixture
def folder(kept: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(kept)
    return kept


def there() -> list[str]:
    """The models of which it is known what came of them."""
    cache = ResultCache()
    return [name for name, job in jobs().items() if cache.find(job) is not None]


def test_what_can_be_known_again_is_kept(folder: Path) -> None:
    assert there() == [*KEPT]
    assert (folder / ".gradtool_cache" / ".gitignore").read_text(encoding="utf-8").endswith("*\n")
    assert not (folder / "made").exists()
    waived = ResultCache().find(jobs()["waived"])
    assert waived is not None
    assert [f.code for f in waived.findings] == ["GT103"]
    assert [w.codes for w in waived.waivers] == [("GT103",)]


def write(name: str, text: str) -> Callable[[Path], object]:
    return lambda folder: (folder / name).write_text(text, encoding="utf-8")


@pytest.mark.parametrize(
    ("change", "undo", "void"),
    [
        (write("plain.py", "x = 1\n"), write("plain.py", KEPT["plain"]), {"plain"}),
        (write("helper.py", "WIDTH = 4\n"), write("helper.py", "WIDTH = 3\n"), {"module"}),
        (lambda f: np.save(f / "data.npy", [4]), lambda f: np.save(f / "data.npy", [3]), {"data"}),
        (write("nets/b", ""), lambda f: (f / "nets" / "b").unlink(), {"folder"}),
        (write("checkpoint", ""), lambda f: (f / "checkpoint").unlink(), {"exists"}),
        (lambda f: (f / "checkpoint").mkdir(), lambda f: (f / "checkpoint").rmdir(), {"exists"}),
        (lambda f: (f / "helper").mkdir(), lambda f: (f / "helper").rmdir(), {"module"}),
        (write("unrelated.py", ""), lambda f: (f / "unrelated.py").unlink(), set()),
        (write("numpy.py", ""), lambda f: (f / "numpy.py").unlink(), {*KEPT}),
        (lambda f: os.utime(f / "plain.py"), lambda f: None, set()),
        (lambda f: os.environ.update(WIDTH="4"), lambda f: os.environ.pop("WIDTH"), {"variable"}),
        (lambda f: os.environ.update(PYTHONHASHSEED="1"), lambda f: os.environ.pop("PYTHONHASHSEED"), {*KEPT}),
    ],
)
def test_what_has_changed_is_not_known(
    folder: Path, change: Callable[[Path], object], undo: Callable[[Path], object], void: set[str]
) -> None:
    change(folder)
    try:
        assert {*KEPT} - {*there()} == void
    finally:
        undo(folder)
    assert there() == [*KEPT]


def test_settings_are_a_part_of_the_key(folder: Path) -> None:
    cache = ResultCache()
    assert cache.find(jobs(Selection(select=("GT1",)))["plain"]) is None
    assert cache.find(jobs(Selection(options={"GT203": {"norm": 1.0}}))["plain"]) is None
    other = Subject(name="plain", target="plain.py", options={"seed": 1})
    assert cache.find(Job(subject=other, selection=Selection())) is None


@pytest.mark.parametrize("spoil", [lambda d: d[:-3], lambda d: b"", lambda d: d.replace(b"used", b"USED")])
def test_what_is_spoiled_is_no_entry(folder: Path, spoil: Callable[[bytes], bytes]) -> None:
    (own,) = [f for f in (folder / ".gradtool_cache").iterdir() if f.is_dir()]
    entries = {file: file.read_bytes() for file in own.iterdir()}
    for file, data in entries.items():
        file.write_bytes(spoil(data))
    try:
        assert there() == []
    finally:
        for file, data in entries.items():
            file.write_bytes(data)
    assert there() == [*KEPT]


def test_a_second_run_loads_no_model(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def check(todo: Sequence[Job], side_by_side: int) -> list[CheckedModel]:
        asked.extend(job.subject.name for job in todo)
        return [CheckedModel(findings=[]) for _ in todo]

    monkeypatch.setattr(pool, "check", check)
    models = [job.subject for job in jobs().values()]
    report = Check(jobs=1, cache=ResultCache()).ask(models)
    assert asked == [*NOT_KEPT]
    assert (report.waiver_count, [f.code for f in report.results]) == (1, [])
    asked.clear()
    Check(jobs=1).ask(models)
    assert asked == [*KEPT, *NOT_KEPT]


def alone(folder: Path, name: str, text: str) -> Subject:
    (folder / f"{name}.py").write_text(NET.format(width=2) + text, encoding="utf-8")
    when = (folder / f"{name}.py").stat().st_mtime - 60
    os.utime(folder / f"{name}.py", (when, when))
    return Subject(name=name, target=f"{name}.py")


def is_kept(model: Subject) -> bool:
    return ResultCache().find(Job(subject=model, selection=Selection())) is not None


def test_one_model_alone_is_kept_with_what_it_prints(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    model = alone(folder, "alone", "print('hello')\n")
    monkeypatch.setattr(
        usage.Usage, "begun", property(lambda _: time.time_ns() + 10**12, lambda *_: None), raising=False
    )
    monkeypatch.setattr(usage, "_earlier", [])
    before = type(os.environ), time.time, os.urandom, random.Random.seed, random.seed
    first = Check(cache=ResultCache()).ask([model])
    said = capsys.readouterr().err
    assert "hello\n" in said
    # Nothing watches this process any more.
    assert (type(os.environ), time.time, os.urandom, random.Random.seed, random.seed) == before
    monkeypatch.setattr(checking, "check_and_record", None)
    second = Check(cache=ResultCache()).ask([model])
    assert capsys.readouterr().err == said
    assert [f.pack() for f in second.results] == [f.pack() for f in first.results]


@pytest.mark.parametrize(
    ("earlier", "text"),
    [(["another model"], ""), ([], "import signal\nsignal.raise_signal(signal.SIGINT)\n"), ([], "open('later')\n")],
    ids=["second", "interrupted", "raises"],
)
def test_what_one_model_comes_to_by_chance_is_not_kept(
    folder: Path, monkeypatch: pytest.MonkeyPatch, earlier: list[str], text: str
) -> None:
    model = alone(folder, "chance", text)
    monkeypatch.setattr(usage, "_earlier", earlier)
    Check(cache=ResultCache()).ask([model])
    assert not is_kept(model)


def test_what_other_versions_kept_goes(folder: Path) -> None:
    old = folder / ".gradtool_cache" / ("0" * 32)
    old.mkdir()
    cache, job = ResultCache(), jobs()["plain"]
    result = cache.find(job)
    assert result is not None
    cache.keep(job, result)
    cache.write()
    assert not old.exists()
    assert there() == [*KEPT]


def test_a_library_without_python_is_a_part_of_the_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    stamps = [ResultCache().stamp]
    for version in ("2023.1.0", "2023.2.0"):
        (tmp_path / f"onednn_cpu_gomp-{version}.dist-info").mkdir()
        stamps.append(ResultCache().stamp)
        (tmp_path / f"onednn_cpu_gomp-{version}.dist-info").rmdir()
    assert len({*stamps}) == 3
    assert ResultCache().stamp == stamps[0]


def test_a_folder_in_another_one_is_not_gone_through_twice() -> None:
    assert _outermost(["/a/b/c", "/a/b", "/a/bc", "/a/b"]) == ["/a/b", "/a/bc"]
