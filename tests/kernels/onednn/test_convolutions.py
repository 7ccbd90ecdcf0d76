"""Convolutions by oneDNN: NumPy's values on random geometries and layouts, in models, on threads; and without it."""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gradtool import paddle
from gradtool.engine.core.errors import BackendError, ShapeError
from gradtool.engine.kernels import choice, onednn
from gradtool.engine.kernels.onednn import compiling, library, products, wheel
from gradtool.engine.ops.library import convolve
from gradtool.paddle import static

ONEDNN = choice.backend("onednn")
OWN = {function: ONEDNN.primitive(function) for function in (convolve.product, convolve.spread, convolve.weigh)}

SHAPES = {"x": (2, 16, 5, 5), "w": (16, 16, 3, 3), "y": (2, 16, 5, 5)}

Arrays = tuple[np.ndarray, np.ndarray, np.ndarray]


def random_case(seed: int) -> tuple[Arrays, convolve.Geometry]:
    """An image, a filter and a result of one geometry."""
    rng = np.random.default_rng(seed)
    rank, groups = int(rng.integers(2, 4)), int(rng.choice([1, 1, 2, 3]))
    window, strides = (tuple(map(int, rng.integers(1, 4, rank))) for _ in range(2))
    dilations, image = (tuple(map(int, rng.integers(*ends, rank))) for ends in ((1, 3), (5, 9)))
    algorithm = str(rng.choice(["EXPLICIT", "SAME", "VALID"]))
    paddings = tuple(map(int, rng.integers(0, 3, 2 * rank)))
    geometry = convolve.Geometry(strides, paddings, dilations, groups, algorithm, "NCHW")
    pads, dilations = geometry.settled("conv", window, image, image)
    spans = [n + sum(p) - (k - 1) * d - 1 for n, p, k, d in zip(image, pads, window, dilations, strict=True)]
    result = [max(span // s + 1, 0) for span, s in zip(spans, strides, strict=True)]
    if seed % 5 == 0:
        result = [max(n - 1, 0) for n in result]  # windows that nobody asked for are left out
    batch, wide, deep = (int(n) for n in rng.integers(1, 4, 3))
    x = laid(rng, (batch, wide * groups, *image))
    w = laid(rng, (deep * groups, wide, *window))
    return (x, w, laid(rng, (batch, deep * groups, *result))), geometry


def laid(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    """Numbers that lie in memory in one of the ways in which arrays do."""
    array = rng.standard_normal(shape).astype("float32")
    match rng.integers(6):
        case 0:
            return np.moveaxis(np.ascontiguousarray(np.moveaxis(array, 1, -1)), -1, 1)
        case 1:
            return array[:, ::-1]
        case 2:
            return np.broadcast_to(array[:1], shape)
    return array


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Products of every size are oneDNN's."""
    monkeypatch.setattr(products, "LEAST", 1)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("seed", range(60))
def test_each_product_is_numpys(seed: int) -> None:
    (x, w, y), geometry = random_case(seed)
    calls: list[tuple[Any, Any, Any, Any]] = [
        (convolve.product, x, w, y.shape[2:]),
        (convolve.spread, w, y, x.shape[2:]),
        (convolve.weigh, x, y, w.shape),
    ]
    for function, a, b, shape in calls:
        expected, computed = function(np, a, b, shape, geometry), OWN[function](np, a, b, shape, geometry)
        assert (computed.shape, computed.dtype) == (expected.shape, expected.dtype)
        scale = max(1.0, np.abs(expected).max(initial=0))
        np.testing.assert_allclose(computed, expected, rtol=0, atol=4e-6 * scale)


def test_most_of_these_are_computed_by_onednn(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[products.ProductCase] = []
    compile_ = compiling.compile_case
    monkeypatch.setattr(
        compiling, "compile_case", lambda lib, case, lay: asked.append(case) or compile_(lib, case, lay)
    )
    x, w = np.ones((1, 5, 11, 11), "float32"), np.ones((2, 5, 3, 3), "float32")
    geometry = convolve.Geometry((1, 1), (1, 1), (1, 1), 1, "EXPLICIT", "NCHW")
    for _ in range(2):
        OWN[convolve.product](np, x, w, (11, 11), geometry)
    OWN[convolve.product](np, x.astype("float64"), w.astype("float64"), (11, 11), geometry)
    assert [case.kind for case in asked] == ["product"]  # once for its sizes, and not for float64


def test_what_it_has_no_kernel_for_is_left_to_numpy(monkeypatch: pytest.MonkeyPatch) -> None:
    x, w = np.ones((1, 5, 11, 11), "float32"), np.ones((5, 1, 3, 3), "float32")
    geometry = convolve.Geometry((1, 1), (1, 1), (1, 1), 5, "EXPLICIT", "NCHW")
    case = products.ProductCase("product", x.shape, w.shape, (1, 5, 11, 11), geometry)
    arrays = [(a.shape, tuple(n // 4 for n in a.strides)) for a in (x, w)]
    names = {"jit_dw:avx2": True, "x64:gemm:jit": False, "ref:any": False}
    for name, taken in names.items():
        monkeypatch.setattr(library.Library, "implementation", lambda self, description, name=name: name)
        assert (compiling.compile_case(library.Library(), case, tuple(arrays)) is not None) == taken
        dense = case._replace(filter=(5, 5, 3, 3), geometry=geometry._replace(groups=1))
        layouts = (arrays[0], ((5, 5, 3, 3), (45, 9, 3, 1)))
        assert (compiling.compile_case(library.Library(), dense, layouts) is not None) == ("ref" not in name)


def test_a_geometry_that_cannot_be_is_refused_as_on_numpy() -> None:
    x, w = np.ones((1, 1, 4, 4), "float32"), np.ones((1, 1, 3, 3), "float32")
    geometry = convolve.Geometry((1, 1), (0, 0), (1, 1), 1, "EXPLICIT", "NCHW")
    with pytest.raises(ShapeError, match=r"image of \[4, 4\] cannot have the size \[9, 9\]"):
        OWN[convolve.product](np, x, w, (9, 9), geometry)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("of", ["x", "w", "y"])
def test_what_is_not_finite_reaches_what_it_reaches_on_numpy(of: str, bad: float) -> None:
    """Also through zeros of a padding."""
    arrays = {name: np.ones(shape, "float32") for name, shape in SHAPES.items()}
    arrays[of][0, 0, 0, 0] = bad
    x, w, y = arrays.values()
    geometry = convolve.Geometry((1, 1), (1, 1), (1, 1), 1, "EXPLICIT", "NCHW")
    for function, a, b, shape in (
        (convolve.product, x, w, (5, 5)),
        (convolve.spread, w, y, (5, 5)),
        (convolve.weigh, x, y, w.shape),
    ):
        with np.errstate(invalid="ignore"):
            np.testing.assert_array_equal(OWN[function](np, a, b, shape, geometry), function(np, a, b, shape, geometry))


def gradients(backend: str) -> list[np.ndarray]:
    """Loss and gradients of a network with convolutions of every kind."""
    with paddle.utils.unique_name.guard(), static.program_guard(static.Program(), static.Program()):
        static.default_startup_program().random_seed = 3
        x = static.data("x", [4, 6, 9, 9])
        h = static.nn.conv2d(x, 12, 3, padding=1, act="relu")
        h = static.nn.conv2d(h, 12, 3, padding="SAME", groups=12, act="tanh")
        h = static.nn.conv2d(h, 8, 1, stride=2, groups=2)
        h = static.nn.conv2d_transpose(h, 4, filter_size=4, stride=2, padding=1)
        loss = paddle.mean(h * h)
        pairs = static.append_backward(loss)
        exe = static.Executor(backend=backend)
        exe.run(static.default_startup_program())
        feed = {"x": np.random.default_rng(0).standard_normal((4, 6, 9, 9)).astype("float32")}
        return exe.run(feed=feed, fetch_list=[loss, *(gradient for _, gradient in pairs)])


def test_a_network_has_the_gradients_of_the_reference() -> None:
    for computed, expected in zip(gradients("onednn"), gradients("numpy"), strict=True):
        np.testing.assert_allclose(computed, expected, rtol=1e-4, atol=1e-6 * np.abs(expected).max())


@pytest.mark.usefixtures("dynamic")
def test_tensors_of_dynamic_mode_are_computed_there() -> None:
    data = np.random.default_rng(1).standard_normal((2, 3, 8, 8)).astype("float32")
    results = []
    for name in ("numpy", "onednn"):
        with choice.use_backend(name):
            x = paddle.to_tensor(data, stop_gradient=False)
            w = paddle.ones([4, 3, 3, 3])
            w.stop_gradient = False
            y = paddle.nn.functional.conv2d(x, w, padding=1)
            (dx,) = paddle.grad((y * y).sum(), [x], create_graph=True)
            (dx * dx).sum().backward()
            results.append((y.numpy(), dx.numpy(), w.grad.numpy()))
    for a, b in zip(*results, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5 * np.abs(b).max())


def test_one_product_on_several_threads() -> None:
    rng = np.random.default_rng(2)
    w = rng.standard_normal((8, 8, 3, 3)).astype("float32")
    images = [rng.standard_normal((2, 8, 16, 16)).astype("float32") for _ in range(40)]
    geometry = convolve.Geometry((1, 1), (1, 1), (1, 1), 1, "EXPLICIT", "NCHW")

    def compute(x: np.ndarray) -> Any:
        return OWN[convolve.product](np, x, w, (16, 16), geometry)

    with ThreadPoolExecutor(4) as threads:
        computed = list(threads.map(compute, images))
    assert all(np.array_equal(a, compute(x)) for a, x in zip(computed, images, strict=True))


WITHOUT_A_CHOICE = """
import os, sys
import numpy as np
from gradtool import paddle
from gradtool.paddle import static
from gradtool.engine.kernels import choice, onednn

x = np.random.default_rng(0).standard_normal((8, 16, 16, 16)).astype("float32")
w = np.random.default_rng(1).standard_normal((16, 16, 3, 3)).astype("float32")

def image():
    return paddle.nn.functional.conv2d(paddle.to_tensor(x), paddle.to_tensor(w), padding=1).numpy()

tiny = paddle.nn.functional.conv2d(paddle.ones([1, 1, 4, 4]), paddle.ones([1, 1, 3, 3])).numpy()
early = "gradtool.engine.kernels.onednn.library" in sys.modules
eager = image()
paddle.enable_static()
data = static.data("x", list(x.shape)), static.data("w", list(w.shape))
y = paddle.nn.functional.conv2d(*data, padding=1)
(program,) = static.Executor().run(feed={"x": x, "w": w}, fetch_list=[y])
paddle.disable_static()
with choice.use_backend("numpy"):
    plain = image()
print(choice.current().name, early, np.array_equal(eager, program), np.array_equal(eager, plain))
print(np.abs(eager - plain).max() <= 1e-5 * np.abs(plain).max(), choice.current().why)
sys.stdout.flush()
if os.fork() == 0:
    os._exit(0 if np.allclose(image(), eager, atol=1e-5) else 1)
print(os.waitstatus_to_exitcode(os.wait()[1]))
"""


def alone(tmp_path: Path, *lines: str) -> list[str]:
    """What a process prints in which nobody has chosen a backend, after these lines."""
    (tmp_path / "alone.py").write_text("\n".join((*lines, WITHOUT_A_CHOICE)))
    environment = {name: value for name, value in os.environ.items() if name != choice.SETTING}
    command = [sys.executable, "-W", "ignore::DeprecationWarning", str(tmp_path / "alone.py")]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=100, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_where_nobody_has_chosen_it_computes_large_convolutions_alike_in_both_modes_and_in_forks(
    tmp_path: Path,
) -> None:
    choices, why, child = alone(tmp_path)
    assert choices == "onednn False True False"  # not loaded for a tiny one; static is eager; NumPy's digits are others
    assert why.startswith("True nobody has chosen; convolutions are oneDNN's, which differ from NumPy's in their last")
    assert child == "0"


@pytest.mark.parametrize(
    ("breaks", "reason"),
    [
        ("library._places = lambda: ['/no/such/file']", "needs oneDNN"),
        ("library._places = lambda: [__import__('_ctypes').__file__]", "is none"),
        ("library.CPU = 99", "dnnl_engine_create failed"),
    ],
    ids=["missing", "another library", "failing"],
)
def test_one_that_is_broken_leaves_all_to_numpy_and_says_so(tmp_path: Path, breaks: str, reason: str) -> None:
    choices, why, child = alone(tmp_path, "from gradtool.engine.kernels.onednn import library", breaks)
    assert choices == "onednn True True True"
    assert "convolutions are NumPy's, since oneDNN cannot be used here" in why
    assert reason in why
    assert child == "0"


def test_without_its_wheel_numpy_computes(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(sys, "path", [str(tmp_path), "/no/such/folder"])
    assert onednn.find_backend() is None
    (tmp_path / "onednn_cpu_gomp-2023.2.0.dist-info").mkdir()
    assert onednn.find_backend() is not None
    assert wheel.file("libdnnl.so.3") is None  # without a record of its files
    (tmp_path / "onednn_cpu_gomp-2023.2.0.dist-info" / "RECORD").write_text("../a/libdnnl.so.3,sha256=x,7\n")
    assert wheel.file("libdnnl.so.3") == str(tmp_path / ".." / "a" / "libdnnl.so.3")


def test_without_it_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wheel, "PREFIX", "no_such_package-")
    monkeypatch.setattr("ctypes.util.find_library", lambda name: None)
    with pytest.raises(BackendError, match=r"needs oneDNN\n.*pip install 'gradtool\[onednn\]'"):
        library.Library()


def test_another_major_version_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    places = ["/no/such/file", next(library._places())]
    monkeypatch.setattr(library, "MAJOR", 2)
    monkeypatch.setattr(library, "_places", lambda: places)
    with pytest.raises(BackendError, match=r"needs oneDNN 2; .* is 3\.\d+\.\d+"):
        library.Library()


def test_a_failing_call_is_an_error_with_its_name() -> None:
    with pytest.raises(BackendError, match="dnnl_stream_create failed with status"):
        library.Library().make("stream_create", None, 1)
