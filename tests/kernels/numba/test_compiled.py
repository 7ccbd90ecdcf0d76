"""Groups that Numba has compiled: NumPy's results to the bit, also of what is no number, and the same errors."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gradtool import paddle
from gradtool.engine.core.errors import BackendError, KernelError
from gradtool.engine.files import user_cache
from gradtool.engine.kernels import choice
from gradtool.engine.kernels.numba import compiling
from gradtool.engine.kernels.numba.fused import FusedKernel, same
from gradtool.engine.kernels.numba.tuning import Tuning
from gradtool.paddle import static

F = paddle.nn.functional
RNG = np.random.default_rng(0)
X = RNG.standard_normal((64, 96)).astype("float32")
STRANGE = X.copy()
ODD = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1e-42, -3e38, 88.8], "float32")
STRANGE[0, :8], STRANGE[7, 90:] = ODD, ODD[:6]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A cache folder of this file's own."""
    before = os.environ.get("XDG_CACHE_HOME")
    path = tmp_path_factory.mktemp("cache")
    os.environ["XDG_CACHE_HOME"] = str(path)
    yield path / "gradtool" / "numba"
    if before is None:
        del os.environ["XDG_CACHE_HOME"]
    else:
        os.environ["XDG_CACHE_HOME"] = before


def model() -> tuple[static.Program, static.Program, list[Any]]:
    """Layer norm, softmax, gelu, choices, sums of rows, two types and an optimizer's update."""
    main, startup = static.Program(), static.Program()
    with static.program_guard(main, startup):
        x = static.data("x", [64, 96], "float32")
        x.stop_gradient = False
        scale = paddle.create_parameter([96], "float32", default_initializer=paddle.nn.initializer.Constant(1.5))
        shift = paddle.create_parameter([96], "float32", default_initializer=paddle.nn.initializer.Constant(0.1))
        h = F.layer_norm(x, 96, scale, shift)
        h = F.gelu(h) * F.sigmoid(x) + F.softmax(x)
        h = paddle.where(h > x, h, paddle.minimum(x, -h)) + shift
        wide = paddle.sqrt(paddle.abs(paddle.cast(h, "float64"))) / 3.0
        loss = paddle.mean(paddle.tanh(h)) + paddle.cast(paddle.mean(wide), "float32")
        paddle.optimizer.Adam(0.1).minimize(loss)
    gradients = ["x@GRAD", f"{scale.name}@GRAD", f"{shift.name}@GRAD"]
    return main, startup, [loss.name, h.name, *gradients, scale.name]


def trained(name: str, steps: int = 3) -> tuple[list[Any], static.Program]:
    main, startup, fetch = model()
    scope = static.Scope()
    with static.scope_guard(scope):
        exe = static.Executor(backend=name)
        exe.run(startup)
        return [exe.run(main, feed={"x": x}, fetch_list=fetch) for x in [X] * steps + [STRANGE]], main


@pytest.fixture(scope="module")
def both(home: Path) -> tuple[list[Any], list[Any], list[Any]]:
    """What a training fetches on NumPy and on Numba, and the compiled groups of the latter."""
    paddle.enable_static()
    tunings: list[Tuning] = []
    begin = Tuning.__init__

    def noting(self: Tuning, plan: Any) -> None:
        begin(self, plan)
        tunings.append(self)

    patch = pytest.MonkeyPatch()
    patch.setattr(Tuning, "__init__", noting)
    for name, nothing in (("addresses", {}), ("definition", None)):  # other tests have compiled, too
        patch.setattr(compiling._Process, name, nothing)
    with patch.context():
        expected, _ = trained("numpy")
        here, _ = trained("numba")
    patch.undo()
    return expected, here, [k for t in tunings for k in t.kernels]


def test_a_training_is_the_same_to_the_bit(both: Any) -> None:
    expected, here, kernels = both
    for a, b in zip(expected, here, strict=True):
        assert all(map(same, a, b))
    assert [bool(np.isnan(values[1]).any()) for values in expected] == [False] * 3 + [True]
    assert kernels
    assert all(k.verified for k in kernels)
    assert not any(k.differs for k in kernels)
    types = {op.type for k in kernels for op in k.operators}
    assert {"layer_norm", "gelu", "softmax", "where_grad", "sum", "softmax_grad", "layer_norm_grad"} <= types


def test_what_was_compiled_is_on_disk_and_read_by_others(
    both: Any, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected, _, kernels = both
    files = sorted(home.iterdir())
    assert len(files) == len({s.text for k in kernels for s in k.sources}) + 1  # what Python calls
    assert {f.suffix for f in files} == {compiling.ENDING}
    monkeypatch.setattr(compiling._Process, "addresses", {})
    monkeypatch.setattr(compiling._Process, "definition", None)
    monkeypatch.setattr(compiling, "_make_object", None)  # nothing is compiled again
    here, _ = trained("numba")
    assert all(map(same, expected[-1], here[-1]))


@pytest.mark.parametrize("harm", ["cut", "nonsense", "gone", "no folder"])
def test_files_that_are_no_good_cost_the_time_of_compiling(
    harm: str, both: Any, home: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    kernel = min(both[2], key=lambda k: sum(len(s.text) for s in k.sources))
    kernel.compile(compiling.compile_source)  # and with it what Python calls, which is one for the process
    made = []
    monkeypatch.setattr(compiling._Process, "addresses", {})
    whole = compiling._make_object
    monkeypatch.setattr(compiling, "_make_object", lambda key, *rest: made.append(key) or whole(key, *rest))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    folder = user_cache.folder(compiling.FOLDER)
    kernel.compile(compiling.compile_source)
    (key,) = made
    shutil.rmtree(folder)
    if harm == "no folder":
        folder.write_text("a file where the folder should be")
        user_cache.keep(compiling.FOLDER, key, b"lost")
        assert user_cache.read(compiling.FOLDER, key) is None
        compiling._Process.addresses.clear()
        kernel.compile(compiling.compile_source)
        assert made == [key, key]
        return
    content = (home / (key + compiling.ENDING)).read_bytes().partition(b"\n")[2]
    assert content
    user_cache.keep(compiling.FOLDER, key + compiling.ENDING, {"nonsense": b"nonsense"}.get(harm, content))
    file = folder / (key + compiling.ENDING)
    if harm == "cut":
        file.write_bytes(file.read_bytes()[:-7])
    if harm == "gone":
        file.unlink()
    compiling._Process.addresses.clear()
    kernel.compile(compiling.compile_source)
    assert made == [key, key]


PROCESSES = """
import os, shutil, sys, time
import numpy as np
from gradtool import paddle
from gradtool.paddle import static
from gradtool.engine.files import user_cache
paddle.enable_static()
x = static.data("x", [64, 96], "float32")
y = paddle.nn.functional.softmax(paddle.tanh(x) * 0.5)
feed = {"x": np.linspace(-3, 3, 64 * 96, dtype="float32").reshape(64, 96)}
(expected,) = static.Executor(backend="numpy").run(feed=feed, fetch_list=[y])
from gradtool.engine.kernels.numba import compiling, tuning  # what each would import
def child():
    exe = static.Executor(backend="numba")
    for _ in range(3):
        (value,) = exe.run(feed=feed, fetch_list=[y])
        assert value.tobytes() == expected.tobytes()
for _ in range(8):
    if os.fork() == 0:
        try:
            child()
        except BaseException as error:
            print(repr(error), flush=True)
            os._exit(1)
        os._exit(0)
ended = 0
while ended < 8:
    pid, status = os.waitpid(-1, os.WNOHANG)
    if pid:
        ended += 1
        assert status == 0
    else:
        shutil.rmtree(user_cache.folder("numba"), ignore_errors=True)  # gone while they run
        time.sleep(0.01)
child()
print(sorted({f.suffix for f in user_cache.folder("numba").iterdir()}))
"""


def test_eight_processes_at_once_share_a_cache_that_is_deleted_meanwhile(tmp_path: Path) -> None:
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", PROCESSES], capture_output=True, text=True, timeout=120, env=environment
    )
    assert (done.stdout, done.stderr) == (f"['{compiling.ENDING}']\n", "")


def test_errors_name_the_operator_and_its_line(both: Any) -> None:
    main, startup = static.Program(), static.Program()
    with static.program_guard(main, startup):
        x = static.data("x", [-1, 4], "float32")
        y = static.data("y", [-1, 4], "float32")
        z = paddle.tanh(paddle.exp(x) + y)
    errors = []
    for name in ("numpy", "numba"):
        exe = static.Executor(backend=name)
        exe.run(main, feed={"x": X[:3, :4], "y": X[:3, :4]}, fetch_list=[z])
        with pytest.raises(KernelError) as caught:
            exe.run(main, feed={"x": X[:3, :4], "y": X[:2, :4]}, fetch_list=[z])
        errors.append(str(caught.value))
    assert errors[0] == errors[1]
    assert "elementwise_add" in errors[0]


def test_without_numba_it_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(choice._Process.loaded, "numba", None)
    monkeypatch.delitem(choice._Process.loaded, "numba")
    monkeypatch.setitem(sys.modules, "llvmlite", None)
    with pytest.raises(BackendError, match="needs Numba") as caught:
        choice.backend("numba")
    assert "gradtool[numba]" in caught.value.hint


def test_loading_the_backend_imports_no_numba() -> None:
    lines = ["import sys", "from gradtool.engine.kernels import choice", "choice.backend('numba')"]
    text = "; ".join([*lines, "print('llvmlite' in sys.modules)"])
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


def reductions() -> dict[str, Any]:
    """Losses by what they reduce, each of what is computed of ``x`` with nothing but elements and rows."""
    x = static.data("x", [64, 96], "float32")
    x.stop_gradient = False
    weight = paddle.create_parameter([96], "float32", default_initializer=paddle.nn.initializer.Constant(1.5))
    h = paddle.tanh(x) * 0.5 + x
    centred = h - paddle.mean(h, axis=-1, keepdim=True)
    spread = paddle.rsqrt(paddle.mean(centred * centred, axis=-1, keepdim=True) + 1e-5)
    wide = paddle.cast(h, "float64")
    return {
        "a norm by hand": paddle.mean(centred * spread * weight),
        "rms_norm": paddle.sum(paddle.incubate.nn.functional.fused_rms_norm(h, weight, None, 1e-5, 1)[0] * h),
        "log_softmax": paddle.mean(F.log_softmax(h) * h),
        "logsumexp": paddle.sum(paddle.logsumexp(h, axis=1) * paddle.mean(h, axis=1)),
        "mse": F.mse_loss(h, x * x),
        "kl_div": F.kl_div(F.log_softmax(h), F.softmax(x)),
        "smooth l1": F.smooth_l1_loss(h, x * 3.0),
        "norms": paddle.sum(paddle.sqrt(paddle.sum(wide * wide, axis=1))),
    }


def test_reductions_and_their_gradients_are_the_same_to_the_bit(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    types: dict[str, set[str]] = {}
    for what in REDUCED:
        values: dict[str, list[Any]] = {}
        for name in ("numpy", "numba"):
            main, startup = static.Program(), static.Program()
            with static.program_guard(main, startup), static.scope_guard(static.Scope()):
                loss = reductions()[what]
                static.append_backward(loss)
                exe = static.Executor(backend=name)
                exe.run(startup)
                runs = [exe.run(main, {"x": x}, [loss, "x@GRAD"]) for x in (X, X, X[::-1].copy(), STRANGE)]
            values[name] = [v for run in runs for v in run]
        assert all(map(same, values["numpy"], values["numba"])), what
        assert exe.plan is not None
        kernels = [i.kernel for i in exe.plan.path[0] if isinstance(i.kernel, FusedKernel)]
        assert not any(k.differs for k in kernels), what
        types[what] = {op.type for k in kernels for op in k.operators}
    assert {what: expected - types[what] for what, expected in REDUCED.items() if expected - types[what]} == {}


REDUCED = {
    "a norm by hand": {"reduce_mean", "elementwise_sub", "rsqrt", "elementwise_mul", "elementwise_sub_grad"},
    "rms_norm": {"tanh", "square", "reduce_mean", "rsqrt", "elementwise_mul", "square_grad"},
    "log_softmax": {"log_softmax", "elementwise_mul_grad", "log_softmax_grad", "tanh_grad"},
    "logsumexp": {"logsumexp", "logsumexp_grad", "tanh_grad"},
    "mse": {"elementwise_sub", "square", "square_grad", "elementwise_mul_grad"},
    "kl_div": {"softmax", "log_softmax", "kldiv_loss", "kldiv_loss_grad", "log_softmax_grad"},
    "smooth l1": {"huber_loss", "huber_loss_grad", "tanh_grad"},
    "norms": {"cast", "reduce_sum", "elementwise_mul_grad", "tanh_grad"},
}
"""What is in groups of each of the losses."""
