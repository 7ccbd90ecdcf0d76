"""Which lines of the engine each test runs: recorded once for each file of tests."""

from __future__ import annotations

import hashlib
import json
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, NamedTuple

import pytest

from . import trial
from .places import FOLDERS, Line, source

BESIDE = ("bench", "reporting", "samples", "viz", "cli/test_ipython", "debugger/test_prompt", "test_packaging")
"""Tests of what other processes do, where a change in this one cannot be seen, and of pictures."""

CALLS = 100
"""So many calls of one function are watched in each test: later ones seldom run another line."""


class Reach(NamedTuple):
    """A test that runs a line, and the seconds that it takes."""

    test: str
    seconds: float


class _Tracer:
    """Notes the lines that run, as long as it is told to."""

    def __init__(self) -> None:
        self.lines: set[tuple[str, int]] = set()
        self._paths: dict[int, tuple[str, CodeType]] = {}
        self._calls: Counter[int] = Counter()

    def begin(self) -> None:
        self.lines.clear()
        self._calls.clear()
        threading.settrace(self._called)
        sys.settrace(self._called)

    def end(self) -> None:
        sys.settrace(None)
        threading.settrace(None)  # type: ignore[arg-type]

    def _called(self, frame: FrameType, event: str, argument: Any) -> Any:
        code = frame.f_code
        entry = self._paths.get(id(code))
        if entry is None:
            entry = self._paths[id(code)] = (path_of(code), code)
        if not entry[0]:
            return None
        self._calls[id(code)] += 1
        return self._ran if self._calls[id(code)] <= CALLS else None

    def _ran(self, frame: FrameType, event: str, argument: Any) -> Any:
        if event == "line":
            self.lines.add((self._paths[id(frame.f_code)][0], frame.f_lineno))
        return self._ran


def path_of(code: CodeType) -> str:
    """The file of a function in the changed folders, from the top of the repository; else nothing."""
    path = code.co_filename.rpartition("/gradtool/")[2]
    return path if path.startswith(tuple(f"engine/{folder}/" for folder in FOLDERS)) else ""


class _Recorder:
    """A plugin for pytest."""

    def __init__(self) -> None:
        self.tests: list[tuple[str, float, list[tuple[str, int]]]] = []
        self.failed: set[str] = set()
        self._tracer = _Tracer()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        begin = time.process_time()
        self._tracer.begin()
        try:
            return (yield)
        finally:
            self._tracer.end()
            lines = [(p, n) for p, n in self._tracer.lines if n in source(p).within]
            self.tests.append((item.nodeid, time.process_time() - begin, lines))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self.failed.add(report.nodeid)


def _record(file: str, out: Path) -> None:
    recorder = _Recorder()
    trial.pytest_main([file], [recorder])
    names = sorted({line for _, _, lines in recorder.tests for line in lines})
    number = {name: n for n, name in enumerate(names)}
    tests = []
    for test, seconds, lines in recorder.tests:
        mask = 0
        for line in lines:
            mask |= 1 << number[line]
        if mask and test not in recorder.failed:
            tests.append([test, round(seconds, 4), f"{mask:x}"])
    content = {"lines": [source(p).lines[n - 1] for p, n in names], "tests": tests, "failed": sorted(recorder.failed)}
    out.write_text(json.dumps(content), encoding="utf-8")


def test_files() -> list[str]:
    """The files of tests that run in this process."""
    files = (p for p in Path("tests").rglob("test_*.py"))
    return sorted(str(p) for p in files if not p.relative_to("tests").as_posix().startswith(BESIDE))


class Record:
    """What the tests of one file run.

    Attributes:
        numbers: line -> its number.
        tests: for each test, how many lines it runs, the seconds it takes, its id, and its lines as bits.
    """

    def __init__(self, content: dict[str, Any]) -> None:
        self.numbers = {Line(*line): number for number, line in enumerate(content["lines"])}
        rows = [(int(mask, 16), seconds, test) for test, seconds, mask in content["tests"]]
        self.tests = sorted((mask.bit_count(), seconds, test, mask) for mask, seconds, test in rows)


def recorded(folder: Path) -> list[Record]:
    """What each file of tests runs; what is not in *folder* yet is recorded, and what has changed since."""
    folder.mkdir(parents=True, exist_ok=True)
    records = []
    for file in test_files():
        digest = hashlib.sha256(Path(file).read_bytes()).hexdigest()[:12]
        out = folder / f"{file.replace('/', '.')}-{digest}.json"
        if not out.exists():
            begin = time.perf_counter()
            outcome = trial.forked(lambda file=file, out=out: _record(file, out), seconds=3600)
            print(f"{file}: {time.perf_counter() - begin:.1f} s, {outcome or 'recorded'}", flush=True)
        if out.exists():
            records.append(Record(json.loads(out.read_text(encoding="utf-8"))))
    return records


def reaching(records: Iterable[Record], readers: set[Line]) -> list[Reach]:
    """Tests that run one of the lines, the most specific of each file first, file by file in turns."""
    turns = []
    for record in records:
        asked = sum(1 << record.numbers[line] for line in readers if line in record.numbers)
        if asked:
            turns.append([(count, Reach(test, seconds)) for count, seconds, test, mask in record.tests if mask & asked])
    turns = sorted((t for t in turns if t), key=lambda t: (t[0][0], t[0][1].test))
    longest = max(map(len, turns), default=0)
    return [t[n][1] for n in range(longest) for t in turns if n < len(t)]
