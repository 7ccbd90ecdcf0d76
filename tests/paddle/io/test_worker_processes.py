"""DataLoader with workers that are processes: the same batches as with workers that take turns, and how they end."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gradtool import paddle
from gradtool.paddle.io import DataLoader, Dataset, IterableDataset, _loader, _processes, get_worker_info
from gradtool.paddle.io._workers import WorkerInfo

pytestmark = pytest.mark.usefixtures("dynamic")


class Samples(Dataset):
    def __init__(self, count: int, make: Callable[[int], Any]) -> None:
        self.count = count
        self.make = make

    def __getitem__(self, idx: int) -> Any:
        return self.make(idx)

    def __len__(self) -> int:
        return self.count


class Stream(IterableDataset):
    start = 0

    def __iter__(self) -> Iterator[Any]:
        return (np.array([i, os.getpid()]) for i in range(self.start, 7))


@pytest.fixture(autouse=True)
def processes(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(_loader, "in_processes", lambda: True)
    yield
    assert multiprocessing.active_children() == []


def read(loader: DataLoader) -> list[Any]:
    return [[part.tolist() for part in batch] for batch in loader]


def test_batches_and_random_numbers_are_those_of_workers_in_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    samples = Samples(9, lambda i: (np.float32([i]), np.random.randint(10**9), paddle.full([2], float(i))))
    loader = DataLoader(samples, batch_size=2, shuffle=True, num_workers=2)
    runs = []
    for separate in (True, False):
        monkeypatch.setattr(_loader, "in_processes", lambda separate=separate: separate)
        np.random.seed(5)
        runs.append(read(loader))
    assert runs[0] == runs[1]
    assert len(runs[0]) == 5


def test_each_worker_knows_who_it_is() -> None:
    def about(i: int) -> Any:
        worker = get_worker_info()
        assert worker is not None
        return np.array([i, worker.id, worker.num_workers, os.getpid()])

    rows = [b.numpy()[0] for b in DataLoader(Samples(4, about), num_workers=2)]
    assert [row[:3].tolist() for row in rows] == [[0, 0, 2], [1, 1, 2], [2, 0, 2], [3, 1, 2]]
    assert len({row[3] for row in rows} - {os.getpid()}) == 2
    assert get_worker_info() is None


def test_streams_and_workers_that_last() -> None:
    def begin(number: int) -> None:
        worker = get_worker_info()
        assert worker is not None
        worker.dataset.start = 2 * number

    loader = DataLoader(Stream(), batch_size=2, num_workers=2, worker_init_fn=begin, persistent_workers=True)
    epochs = [[b.numpy() for b in loader] for _ in range(2)]
    assert [b[:, 0].tolist() for b in epochs[0]] == [[0, 1], [2, 3], [2, 3], [4, 5], [4, 5], [6], [6]]
    assert all((a == b).all() for a, b in zip(*epochs, strict=True)), "the same processes in both epochs"
    loader.close()


def test_an_error_comes_with_where_it_was_raised() -> None:
    with pytest.raises(ZeroDivisionError, match=r"DataLoader worker\(0\) caught ZeroDivisionError") as caught:
        read(DataLoader(Samples(4, lambda i: [np.array(1 // (i - 2))]), num_workers=2))
    assert "1 // (i - 2)" in str(caught.value)

    class OddError(Exception):
        def __init__(self, a: int, b: int) -> None:
            super().__init__(a, b)

    def odd(number: int) -> None:
        raise OddError(1, 2)

    with pytest.raises(RuntimeError, match="OddError"):
        read(DataLoader(Samples(4, lambda i: [i]), num_workers=1, worker_init_fn=odd))


def test_workers_that_die_or_are_slow_are_told() -> None:
    with pytest.raises(RuntimeError, match=r"worker\(0\) ended with exit code 3"):
        read(DataLoader(Samples(1, lambda i: os._exit(3)), num_workers=1))
    with pytest.raises(RuntimeError, match=r"worker\(0\) gave no batch within timeout=0\.05 seconds"):
        read(DataLoader(Samples(1, lambda i: time.sleep(60)), num_workers=1, timeout=0.05))  # type: ignore[arg-type]


@pytest.mark.parametrize("error", [KeyboardInterrupt, GeneratorExit])
def test_workers_end_with_the_loop(error: type[BaseException]) -> None:
    batches = DataLoader(Samples(100, lambda i: np.array(i)), num_workers=2)._from_processes(False)
    next(batches)
    assert len(multiprocessing.active_children()) == 2
    with pytest.raises(error):
        batches.throw(error)


INTERRUPTED = """
import os, signal, time
from gradtool import paddle

class Slow(paddle.io.Dataset):
    def __len__(self):
        return 10_000

    def __getitem__(self, i):
        time.sleep(0.001)
        return float(i)

for n, _ in enumerate(paddle.io.DataLoader(Slow(), batch_size=4, num_workers=2)):
    if n == 2:
        os.killpg(0, signal.SIGINT)  # as the terminal does for Ctrl-C: to every process
"""


def test_control_c_ends_the_workers_and_is_told_once(tmp_path: Path) -> None:
    file = tmp_path / "script.py"
    file.write_text(INTERRUPTED)
    process = subprocess.Popen([sys.executable, file], stderr=subprocess.PIPE, text=True, start_new_session=True)
    _, told = process.communicate(timeout=60)
    assert process.returncode == -signal.SIGINT
    assert told.count("KeyboardInterrupt") == told.count("Traceback") == 1
    with pytest.raises(ProcessLookupError):
        os.killpg(process.pid, 0)


def test_a_worker_without_a_parent_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_processes, "LOOK_AFTER", 0.01)
    context = multiprocessing.get_context("fork")
    _, writing = context.Pipe(duplex=False)
    info = WorkerInfo(0, 1, None, 1)
    gone = context.Process(target=_processes._work, args=(info, lambda i: lambda r: r, context.Queue(), writing, -1))
    gone.start()
    gone.join(30)
    assert gone.exitcode == 0


def test_scripts_that_gradtool_runs_have_none() -> None:
    import gradtool.engine.script.users_code  # noqa: F401

    assert not _processes.in_processes()
