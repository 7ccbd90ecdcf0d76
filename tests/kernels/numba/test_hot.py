"""Plans that run often: compiled beside their runs, to the same bits, and never a reason to fail or to wait."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gradtool import paddle
from gradtool.engine.core.errors import KernelError
from gradtool.engine.kernels import choice
from gradtool.engine.kernels.numba import compiling, hot
from gradtool.engine.kernels.numba.fused import FusedKernel, same
from gradtool.paddle import static

X = np.random.default_rng(0).standard_normal((64, 96)).astype("float32")


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Nobody has chosen what computes, plans are hot in their third run, and the cache is empty."""
    monkeypatch.delenv(choice.SETTING, raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(choice._Process, "chosen", choice._first())
    monkeypatch.setattr(hot, "RUNS", 3)
    monkeypatch.setattr(hot, "OPERATOR", 0.0)


def softmaxes() -> tuple[static.Program, Any]:
    main = static.Program()
    with static.program_guard(main, static.Program()):
        x = static.data("x", [-1, 96], "float32")
        y = static.data("y", [-1, 96], "float32")
        return main, paddle.nn.functional.softmax(paddle.tanh(x + y) * 0.5)


def fused(exe: static.Executor) -> list[FusedKernel]:
    """The groups that the plan of the last run has by now."""
    assert exe.plan is not None
    return [i.kernel for i in exe.plan.path[0] if isinstance(i.kernel, FusedKernel)]


def runs(exe: static.Executor, main: static.Program, out: Any, count: int) -> list[Any]:
    return [exe.run(main, feed={"x": X, "y": X}, fetch_list=[out])[0] for _ in range(count)]


def test_a_hot_plan_has_its_groups_compiled_and_gives_the_same_bits() -> None:
    main, out = softmaxes()
    exe = static.Executor()
    values = runs(exe, main, out, 2)
    assert not fused(exe)
    values += runs(exe, main, out, 1)
    hot.wait()
    values += runs(exe, main, out, 3)
    (kernel,) = fused(exe)
    assert kernel.verified
    assert not kernel.differs
    assert all(same(values[0], v) for v in values)
    assert same(values[0], runs(static.Executor(backend="numpy"), main, out, 1)[0])


def test_a_plan_is_hot_once_the_process_has_computed_for_as_long_as_compiling_takes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    added: list[Any] = []
    monkeypatch.setattr(hot._worker, "add", lambda plan, sights: added.append(plan))
    monkeypatch.setattr(hot, "OPERATOR", 2.0)
    clock = [100.0]
    monkeypatch.setattr(hot, "process_time", lambda: clock[0])
    main, out = softmaxes()
    exe = static.Executor()
    runs(exe, main, out, 5)
    assert exe.plan is not None
    clock[0] += 2.0 * len(exe.plan.instructions) - 1
    runs(exe, main, out, 1)
    assert not added
    clock[0] += 1.0
    runs(exe, main, out, 3)
    assert added == [exe.plan]


def test_who_names_the_reference_has_nothing_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hot._worker, "add", None)
    main, out = softmaxes()
    runs(static.Executor(backend="numpy"), main, out, 5)
    with choice.use_backend("numpy"):
        runs(static.Executor(), main, out, 5)
    monkeypatch.setenv(choice.SETTING, "numpy")
    assert choice._first() is choice.reference()


def test_a_choice_for_a_while_gives_back_what_was_before() -> None:
    before = choice.current()
    assert before is not choice.reference()
    with choice.use_backend("numpy"):
        assert choice.current() is choice.reference()
    assert choice.current() is before
    assert choice.eager() is before.eager


def test_rounds_of_a_loop_are_one_run(monkeypatch: pytest.MonkeyPatch) -> None:
    added: list[Any] = []
    monkeypatch.setattr(hot._worker, "add", lambda plan, sights: added.append(plan.inputs is None))
    main = static.Program()
    with static.program_guard(main, static.Program()):
        x = static.data("x", [64, 96], "float32")
        i = paddle.zeros([1], "int64")
        _, out = static.nn.while_loop(
            lambda i, h: i < 20, lambda i, h: [i + 1, paddle.tanh(paddle.exp(h) * 0.5)], [i, x]
        )
    exe = static.Executor()
    for count in range(1, 5):
        exe.run(main, feed={"x": X}, fetch_list=[out])
        assert len(added) == (0 if count < 3 else 2)
    assert sorted(added) == [False, True]


@pytest.mark.parametrize("fault", ["no compiler", "broken when imported", "broken at work", "no thread"])
def test_a_compiler_that_fails_costs_nothing_but_its_speed(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any) -> Any:
        raise RuntimeError("broken")

    if fault == "no compiler":
        monkeypatch.setattr(hot, "find_spec", lambda name: None)
    if fault == "broken when imported":
        monkeypatch.setitem(sys.modules, compiling.__name__, None)
    if fault == "broken at work":
        monkeypatch.setattr(compiling, "compile_source", broken)
    if fault == "no thread":
        monkeypatch.setattr(threading.Thread, "start", broken)
    main, out = softmaxes()
    exe = static.Executor()
    values = runs(exe, main, out, 3)
    hot.wait()
    values += runs(exe, main, out, 2)
    assert not fused(exe)
    assert all(same(values[0], v) for v in values)


def test_errors_name_the_operator_and_its_line() -> None:
    main, out = softmaxes()
    errors = []
    for exe in (static.Executor(backend="numpy"), static.Executor()):
        runs(exe, main, out, 4)
        hot.wait()
        runs(exe, main, out, 2)
        with pytest.raises(KernelError) as caught:
            exe.run(main, feed={"x": X, "y": X[:3]}, fetch_list=[out])
        errors.append(str(caught.value))
    assert fused(exe)
    assert errors[0] == errors[1]
    assert "elementwise_add" in errors[0]


FORKS = """
import os, sys, threading
import numpy as np
from gradtool import paddle
from gradtool.paddle import static
from gradtool.engine.kernels.numba import compiling, hot
paddle.enable_static()
x = static.data("x", [64, 96], "float32")
h = paddle.nn.functional.softmax(paddle.tanh(x) * 0.5)
exe, feed = static.Executor(), {"x": np.ones((64, 96), "float32")}
hot.OPERATOR = 0.0
whole, begun = compiling._make_object, threading.Event()
def slow(*rest):
    begun.set()
    return whole(*rest)
compiling._make_object = slow
for _ in range(64):
    before = exe.run(feed=feed, fetch_list=[h])
begun.wait()
if os.fork() == 0:
    for name in ("numpy", "numba"):
        other = static.Executor(backend=name)
        for _ in range(70):
            assert np.array_equal(other.run(feed=feed, fetch_list=[h]), before)
    for _ in range(70):
        exe.run(feed=feed, fetch_list=[h])
    hot.wait()
    os._exit(7)
hot.wait()
print(os.waitstatus_to_exitcode(os.wait()[1]))
"""


def test_a_process_that_is_forked_while_it_compiles_can_compile() -> None:
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", FORKS], capture_output=True, text=True, timeout=60)
    assert (done.stdout, done.stderr) == ("7\n", "")


ENDS = """
import sys, time
import numpy as np
from gradtool import paddle
from gradtool.paddle import static
from gradtool.engine.kernels.numba import hot
hot.OPERATOR = 0.0
paddle.enable_static()
x = static.data("x", [64, 96], "float32")
h = x
for n in range(24):
    h = paddle.nn.functional.softmax(paddle.tanh(h) * (0.5 + n) + x)
exe, feed = static.Executor(), {"x": np.ones((64, 96), "float32")}
exe.run(feed=feed, fetch_list=[h])
print([n for n in ("llvmlite", "gradtool.engine.kernels.numba.tuning") if n in sys.modules])
for _ in range(63):
    exe.run(feed=feed, fetch_list=[h])
time.sleep(float(sys.argv[1]))
"""


@pytest.mark.parametrize("seconds", [0.0, 0.1, 0.25])
def test_a_process_ends_while_it_compiles(seconds: float) -> None:
    done = subprocess.run([sys.executable, "-c", ENDS, str(seconds)], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, "[]\n", "")


def test_what_is_seen_of_a_run_is_told_with_the_operator_where_it_fails() -> None:
    main, out = softmaxes()
    exe = static.Executor()
    runs(exe, main, out, 2)
    with pytest.raises(KernelError, match="elementwise_add"):
        exe.run(main, feed={"x": X, "y": X[:3]}, fetch_list=[out])
