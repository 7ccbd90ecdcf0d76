"""Large groups on several threads: NumPy's bits for every number of them, and a pool that neither hangs nor lingers."""

from __future__ import annotations

import ctypes
import os
import platform
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from gradtool import paddle
from gradtool.engine.kernels import threads
from gradtool.engine.kernels.numba import compiling, pool
from gradtool.engine.kernels.numba.fused import FusedKernel, same
from gradtool.engine.kernels.numba.tuning import Tuning
from gradtool.paddle import static

F = paddle.nn.functional
Part = tuple[int, int, int]
"""A part that was computed: by whom, from where to where."""

FUNCTION = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)
SHARE = ctypes.CFUNCTYPE(None, FUNCTION, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64, ctypes.c_int64)


@pytest.fixture(scope="module")
def share() -> Any:
    """What groups call."""
    return SHARE(compiling._share())


def parts(share: Any, begin: int, end: int, unit: int, meanwhile: Callable[[], object] = lambda: None) -> list[Part]:
    """What was computed, in the order of the range."""
    seen: list[Part] = []

    def part(_: Any, first: int, last: int) -> None:
        seen.append((threading.get_ident(), first, last))
        meanwhile()

    share(FUNCTION(part), None, begin, end, unit)
    return sorted(seen, key=lambda p: p[1])


@pytest.mark.parametrize("count", [1, 2, 3, 5])
@pytest.mark.parametrize(("begin", "end", "unit"), [(0, 1, 1), (0, 100, 7), (3, 50, 4), (0, 4096, 128), (0, 5, 100)])
def test_parts_are_the_whole(share: Any, count: int, begin: int, end: int, unit: int) -> None:
    with threadpool_limits(count):
        done = parts(share, begin, end, unit)
    assert [first for _, first, _ in done] == [begin, *(last for _, _, last in done[:-1])]
    assert done[-1][2] == end
    assert all((last - first) % unit == 0 for _, first, last in done[:-1])
    assert len(done) <= max(1, pool.PARTS * count * 2)
    if count == 1:
        assert len(done) == 1


@pytest.mark.parametrize("count", [2, 3, 5])
def test_so_many_compute_at_the_same_time(share: Any, count: int) -> None:
    together = threading.Barrier(count)
    with threadpool_limits(count):
        done = parts(share, 0, count, 1, lambda: together.wait(60))
    assert len({thread for thread, _, _ in done}) == count


def test_fewer_compute_once_there_are_to_be_fewer(share: Any) -> None:
    together = threading.Barrier(3)
    with threadpool_limits(3):
        parts(share, 0, 3, 1, lambda: together.wait(60))
    with threadpool_limits(1):
        assert [thread for thread, _, _ in parts(share, 0, 100, 1)] == [threading.get_ident()]


def test_who_calls_meanwhile_computes_by_himself(share: Any) -> None:
    begun, ended = threading.Event(), threading.Event()
    first: list[Part] = []

    def busy() -> None:
        def wait() -> None:
            begun.set()
            assert ended.wait(60)

        first.extend(parts(share, 0, 8, 1, wait))

    thread = threading.Thread(target=busy)
    with threadpool_limits(2):
        thread.start()
        assert begun.wait(60)
        assert parts(share, 0, 100, 1) == [(threading.get_ident(), 0, 100)]
        ended.set()
        thread.join()
    assert len(first) == 8


def test_the_caller_computes_what_nobody_comes_for() -> None:
    text = pool.text("refusing").replace(
        "declare i32 @pthread_create(ptr, ptr, ptr, ptr)",
        "define internal i32 @pthread_create(ptr %a, ptr %b, ptr %c, ptr %d) {\n  ret i32 11\n}",
    )
    key = compiling._key(text)
    begin = compiling._address(key, lambda name: text.replace("@refusing", f"@{name}"))
    share = SHARE(ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64)(begin)(None, 4))
    for _ in range(2):
        done = parts(share, 0, 16, 1)
        assert [thread for thread, _, _ in done] == [threading.get_ident()] * 16


UPWARD = {"x86_64": 0x800, "aarch64": 0x400000}


def test_others_round_as_the_caller_does(share: Any) -> None:
    library, together = ctypes.CDLL(None), threading.Barrier(2)
    modes = []

    def look() -> None:
        together.wait(60)
        modes.append(library.fegetround())

    with threadpool_limits(2):
        parts(share, 0, 2, 1, look)
        assert modes == [0, 0]
        library.fesetround(UPWARD[platform.machine()])
        try:
            parts(share, 0, 2, 1, look)
        finally:
            library.fesetround(0)
    assert modes[2:] == [UPWARD[platform.machine()]] * 2


def test_what_the_libraries_say_is_the_number() -> None:
    for count in (1, 3):
        with threads.limit_threads(count):
            assert threads.current_count() == count


# -- groups ------------------------------------------------------------------------------------------------------------


def model() -> tuple[static.Program, list[Any], dict[str, Any]]:
    """Groups whose rows are divided, whose columns are, whose channels are, and the elements of one loop."""
    rng = np.random.default_rng(0)
    feed = {
        "x": rng.standard_normal((301, 257)).astype("float32"),
        "image": rng.standard_normal((4, 24, 20, 33)).astype("float32"),
        "label": rng.integers(0, 257, (301, 1)),
        "long": rng.standard_normal(70_001),
        "wide": rng.standard_normal((120, 600)).astype("float32"),
        "bias": rng.standard_normal(600).astype("float32"),
    }
    feed["x"][0, :3] = [np.nan, np.inf, -0.0]
    main, startup = static.Program(), static.Program()
    with static.program_guard(main, startup):
        given = {k: static.data(k, list(v.shape), str(v.dtype)) for k, v in feed.items()}
        leaves = [given[name] for name in ("x", "image", "long", "wide", "bias")]
        for leaf in leaves:
            leaf.stop_gradient = False
        rows = F.softmax(F.gelu(given["x"]) * 0.5)
        columns = F.gelu(given["wide"] + given["bias"])
        labels = F.softmax_with_cross_entropy(given["x"], given["label"])
        channels = F.batch_norm(
            F.relu(given["image"]),
            *[paddle.zeros([24]), paddle.ones([24]), paddle.ones([24]), paddle.zeros([24])],
            training=True,
        )
        long = paddle.tanh(given["long"]) * given["long"] + 1.0
        total = sum(v.astype("float32").sum() for v in (rows, labels, channels, long, columns * columns))
        gradients = static.gradients(total, leaves)
    return main, [rows, labels, channels, long, columns, *gradients], feed


class Groups:
    """The program on compiled groups."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        patch.setattr(compiling, "SHARED", 1 << 12)
        tunings: list[Tuning] = []
        begin = Tuning.__init__
        patch.setattr(Tuning, "__init__", lambda self, plan: (begin(self, plan), tunings.append(self))[0])
        self.main, self.fetch, self.feed = model()
        self.expected = self._run(static.Executor(backend="numpy"))
        self.executor = static.Executor(backend="numba")
        for _ in range(2):
            self.see()
        self.kernels: list[FusedKernel] = [k for t in tunings for k in t.kernels]

    def _run(self, executor: static.Executor) -> list[Any]:
        return list(executor.run(self.main, feed=self.feed, fetch_list=self.fetch))

    def see(self) -> None:
        """Run it; what it gives is NumPy's."""
        assert all(map(same, self.expected, self._run(self.executor)))

    def alike(self) -> bool:
        """Whether every group's first run has given NumPy's bits."""
        return all(k.verified and not k.differs for k in self.kernels)


@pytest.fixture(scope="module")
def groups(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Groups]:
    paddle.enable_static()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield Groups(patch)


def test_parts_give_numpys_bits_in_any_order(groups: Groups, monkeypatch: pytest.MonkeyPatch) -> None:
    several = []

    def backwards(function: Any, context: Any, begin: int, end: int, unit: int) -> None:
        places = range(begin, end, unit)
        several.append(len(places))
        for first in reversed(places):
            function(context, first, min(first + unit, end))

    called = SHARE(backwards)
    monkeypatch.setattr(compiling, "_share", lambda: ctypes.cast(called, ctypes.c_void_p).value)
    assert Groups(monkeypatch).alike()
    sources = [s for k in groups.kernels for s in k.sources]
    assert len(several) == sum(map(compiling.large, sources))
    assert min(several) > 1


def test_groups_of_each_kind_are_divided(groups: Groups) -> None:
    divided = {(len(s.dims), s.divided, bool(s.sums)) for k in groups.kernels for s in k.sources if compiling.large(s)}
    assert {(1, 0, False), (2, 0, False), (2, 1, True), (3, 1, True)} <= divided


@pytest.mark.parametrize("count", [1, 2, 3, 5])
def test_bits_are_numpys_for_every_number_of_threads(groups: Groups, count: int) -> None:
    with threadpool_limits(count):
        for _ in range(3):
            groups.see()
    assert groups.alike()


def test_threads_of_python_run_at_once(groups: Groups) -> None:
    failures: list[BaseException] = []

    def often() -> None:
        try:
            for _ in range(3):
                groups.see()
        except BaseException as error:
            failures.append(error)

    several = [threading.Thread(target=often) for _ in range(3)]
    with threadpool_limits(2):
        for thread in several:
            thread.start()
        for thread in several:
            thread.join()
    assert not failures


def test_without_threads_of_the_system_there_is_one(monkeypatch: pytest.MonkeyPatch, groups: Groups) -> None:
    monkeypatch.setattr(pool, "NEEDED", ("pthread_that_is_nowhere",))
    monkeypatch.setattr(compiling, "_share", compiling._share.__wrapped__)
    assert compiling._share() == 0
    assert Groups(monkeypatch).alike()


PROCESS = """
import os, sys, threading, time
import numpy as np
from gradtool import paddle
from gradtool.paddle import static
paddle.enable_static()
x = static.data("x", [512, 256], "float32")
y = paddle.nn.functional.softmax(paddle.tanh(x) * 0.5)
feed = {"x": np.linspace(-3, 3, 512 * 256, dtype="float32").reshape(512, 256)}
(expected,) = static.Executor(backend="numpy").run(feed=feed, fetch_list=[y])
exe = static.Executor(backend="numba")
def run():
    (value,) = exe.run(feed=feed, fetch_list=[y])
    assert value.tobytes() == expected.tobytes()
def threads():
    return len(os.listdir("/proc/self/task"))
run(); run()
def forked():
    if os.fork() == 0:
        before = threads()
        run(); run()
        os._exit(0 if (before, threads()) == (1, 2) else 1)
    assert os.wait()[1] == 0
"""


def process(text: str, tmp_path: Path) -> str:
    """What a process prints that runs a group on two threads, and goes on with *text*."""
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path), "OPENBLAS_NUM_THREADS": "2", "OMP_NUM_THREADS": "2"}
    words = [sys.executable, "-W", "ignore", "-c", PROCESS + text]
    done = subprocess.run(words, capture_output=True, text=True, timeout=120, env=environment)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def test_forked_while_threads_look_for_work_sleep_and_compute(tmp_path: Path) -> None:
    text = """
run(); forked()
time.sleep(0.01); forked()
stop = threading.Event()
def often():
    while not stop.is_set():
        run()
thread = threading.Thread(target=often)
thread.start()
for _ in range(10):
    forked()
stop.set()
thread.join()
run()
print("well")
"""
    assert process(text, tmp_path) == "well\n"


@pytest.mark.parametrize("last", ["time.sleep(0.01)", "threading.Thread(target=run).start()"])
def test_a_process_ends(last: str, tmp_path: Path) -> None:
    assert process(f"run(); print(threads())\n{last}", tmp_path) == "2\n"
