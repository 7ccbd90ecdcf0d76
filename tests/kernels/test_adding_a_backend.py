"""The backend that CONTRIBUTING.md adds as its example runs everything, and nobody falls back to another by name."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import gradtool
from gradtool import paddle
from gradtool.engine import kernels
from gradtool.engine.core import settings
from gradtool.engine.core.errors import BackendError
from gradtool.engine.kernels import choice
from gradtool.engine.kernels.backend import Backend
from tests.house.recipes import recipes
from tests.viz.debugger.conftest import said

ROOT = Path(__file__).parents[2]
SOURCES = [f for folder in ("engine", "viz", "cli") for f in sorted((ROOT / folder).rglob("*.py"))]


@pytest.fixture(scope="session")
def example(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Backend, ModuleType]:
    """The example's parent folder, its backend, its module: one in a process; what it bound is kept by its name."""
    (text,) = re.findall(r"```python\n(.*?)```", recipes()["A backend"], re.DOTALL)
    home = tmp_path_factory.mktemp("kernels")
    (home / "counting").mkdir()
    (home / "counting" / "__init__.py").write_text(text, encoding="utf-8")
    kernels.__path__.append(str(home))
    backend = choice.backend("counting")
    kernels.__path__.remove(str(home))
    del choice._Process.loaded["counting"]
    return str(home), backend, sys.modules.pop("gradtool.engine.kernels.counting")


@pytest.fixture(scope="module")
def counting(example: tuple[str, Backend, ModuleType]) -> Iterator[ModuleType]:
    """The example as a folder of ``kernels``, its module. xdist may run these tests in parts, each with its setup."""
    home, backend, module = example
    kernels.__path__.append(home)
    choice._Process.loaded["counting"] = backend
    sys.modules["gradtool.engine.kernels.counting"] = module
    yield module
    kernels.__path__.remove(home)
    del choice._Process.loaded["counting"], sys.modules["gradtool.engine.kernels.counting"]


@pytest.fixture
def asked(counting: ModuleType) -> Counter[str]:
    """What the backend counted, from nothing."""
    counting.asked.clear()
    return counting.asked  # type: ignore[no-any-return]


@pytest.fixture
def alone(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Kernels that are bound on the reference must not run."""
    forbidden = True

    def binding(bind: Any) -> Any:
        def bound(*args: Any) -> Any:
            kernel = bind(*args)

            def run(*operands: Any) -> Any:
                assert not forbidden, f"{args[0]} on the reference"
                return kernel(*operands)

            return run

        return bound

    for name in ("_bind", "bind_gradient", "general"):
        monkeypatch.setattr(choice.reference(), name, binding(getattr(choice.reference(), name)))
    yield
    forbidden = False  # for what is still bound to them


def trained(backend: str) -> list[Any]:
    """Losses and a parameter of a program with a loop, over two steps."""
    main, startup = paddle.static.Program(), paddle.static.Program()
    with paddle.static.program_guard(main, startup), paddle.static.scope_guard(paddle.static.Scope()):
        x = paddle.static.data("x", [None, 3], "float32")
        h = paddle.tanh(paddle.static.nn.fc(x, 3))
        turn = paddle.full([1], 0, "int64")
        _, h = paddle.static.nn.while_loop(lambda i, h: i < 2, lambda i, h: [i + 1, h * 0.5], [turn, h])
        loss = paddle.mean(h * h)
        paddle.optimizer.SGD(0.5).minimize(loss)
        executor = paddle.static.Executor(backend=backend)
        main.random_seed = startup.random_seed = 7
        executor.run(startup)
        feed = {"x": np.linspace(-1, 1, 6, dtype="float32").reshape(2, 3)}
        return [executor.run(main, feed, [loss, main.all_parameters()[0]]) for _ in range(2)]


@pytest.fixture
def trained_on_numpy() -> list[Any]:
    return trained("numpy")


def test_a_program_with_a_loop_is_trained(trained_on_numpy: list[Any], asked: Counter[str], alone: None) -> None:
    steps = trained("counting")
    assert asked["matmul"]
    for step, expected in zip(steps, trained_on_numpy, strict=True):
        for value, reference in zip(step, expected, strict=True):
            np.testing.assert_allclose(value, reference, rtol=1e-5, atol=1e-7)


class Double(paddle.autograd.PyLayer):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        return x * 2

    @staticmethod
    def backward(ctx: Any, dy: Any) -> Any:
        return dy * 2


def network(w: Any) -> Any:
    """Operators of every kind: with numbers, lists, remembered arguments, the user's own; checked and not."""
    h = Double.apply(paddle.tanh(paddle.matmul(w, w) * 0.5))
    left, right = paddle.split(h, 2, 0)
    return (paddle.concat([left, right.reshape([1, 2])], 0) ** 2 + h[0]).sum()


def weight() -> Any:
    return paddle.to_tensor([[0.1, 0.2], [0.3, -0.4]], stop_gradient=False)


def gradients() -> list[Any]:
    """Of the network, of first and second order, and those that backward leaves."""
    w = weight()
    (slope,) = paddle.grad(network(w), w, create_graph=True)
    slope.sum().backward()
    bend, w.grad = w.grad, None
    network(w).backward()
    return [slope.numpy(), bend.numpy(), w.grad.numpy()]


@pytest.fixture
def gradients_on_numpy(dynamic: None) -> list[Any]:
    return gradients()


def test_a_tape_is_recorded_and_run_backward(
    gradients_on_numpy: list[Any], asked: Counter[str], dynamic: None, alone: None
) -> None:
    with choice.use_backend("counting"):
        computed = gradients()
    assert asked["matmul"]
    np.testing.assert_allclose(computed, gradients_on_numpy, rtol=1e-5)


def test_what_was_recorded_goes_on_with_its_backend(asked: Counter[str], dynamic: None, alone: None) -> None:
    w = weight()
    with choice.use_backend("counting"):
        loss = network(w)
    asked.clear()
    loss.backward()
    assert asked["matmul"]


def test_what_is_computed_again_for_backward_is_so_on_its_backend(
    asked: Counter[str], dynamic: None, alone: None
) -> None:
    w = weight()
    with choice.use_backend("counting"):
        loss = paddle.distributed.fleet.utils.recompute(network, w)
    asked.clear()
    loss.backward()
    assert asked["matmul"]


def test_calls_that_are_remembered_change_with_the_backend(asked: Counter[str], dynamic: None) -> None:
    w = weight()

    def calls() -> list[Any]:
        return [w.reshape([4]), w * 0.5, w**2.0, w[0], paddle.nn.functional.relu(w)]

    for _ in range(2):  # the second time from what was remembered
        calls()
        assert not asked
        with choice.use_backend("counting"):
            assert all(v.numpy() is not None for v in calls())
        assert asked
        asked.clear()


def test_gradients_are_checked_against_the_reference(
    counting: ModuleType, dynamic: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    w = weight()
    with choice.use_backend("counting") as backend:
        assert gradtool.gradcheck(lambda: network(w)).is_passed
        monkeypatch.setattr(backend, "bind_gradient", wrong(backend, "tanh"))
        story = gradtool.gradcheck(lambda: (paddle.tanh(w * 1.0) * 3.0).sum())
    assert not story.is_passed


def wrong(backend: Backend, op_name: str) -> Any:
    """``bind_gradient`` of a backend that is mistaken in one operator."""
    right = backend.bind_gradient

    def bind(op: Any, *rest: Any) -> Any:
        kernel = right(op, *rest)
        assert kernel is not None
        return (lambda *operands: 0.5 * kernel(*operands)) if op.name == op_name else kernel

    return bind


@pytest.mark.parametrize("mode", ["static", "dynamic"])
def test_the_debugger_computes_again_on_the_backend(
    mode: str, counting: ModuleType, asked: Counter[str], alone: None, request: pytest.FixtureRequest
) -> None:
    with choice.use_backend("counting"):
        if mode == "dynamic":
            request.getfixturevalue("dynamic")
            w = weight()
            book = gradtool.debug(paddle.tanh(paddle.matmul(w, w)).sum(), prompt=False)
            edit, last = "set w = 0", "tanh.0"
        else:
            x = paddle.static.data("x", [2, 2])
            x.stop_gradient = False
            h = paddle.tanh(paddle.matmul(x, x))
            book = gradtool.debug(paddle.sum(h), feed={"x": np.ones((2, 2), "float32")}, prompt=False)
            edit, last = "set x = 0", h.name
    said(book, "goto %1")
    asked.clear()
    assert said(book, edit).startswith("edited 4 elements")
    assert not asked
    said(book, "finish")
    assert asked["matmul"]
    np.testing.assert_array_equal(book.execute(f'v["{last}"]')[1].value, np.zeros((2, 2)))


def test_it_is_set_by_name(asked: Counter[str], dynamic: None) -> None:
    with settings.keep_settings():
        gradtool.set_backend("counting")
        assert gradtool.get_backend() == paddle.static.Executor().backend.name == "counting"
        paddle.matmul(weight(), weight())
        assert asked["matmul"]
        gradtool.set_backend("numpy")
        assert gradtool.get_backend() == "numpy"
    with pytest.raises(TypeError, match="received int"):
        gradtool.set_backend(1)


def test_the_environment_names_the_first() -> None:
    ask = [sys.executable, "-c", "import gradtool; print(gradtool.get_backend())"]
    said = subprocess.run(ask, env={**os.environ, "GRADTOOL_BACKEND": "numpy"}, capture_output=True, text=True)
    assert (said.stdout, said.stderr) == ("numpy\n", "")
    said = subprocess.run(ask, env={**os.environ, "GRADTOOL_BACKEND": "nunpy"}, capture_output=True, text=True)
    assert "backend 'nunpy' is not part of this version" in said.stderr
    assert "GRADTOOL_BACKEND in the environment names it; did you mean 'numpy'?" in said.stderr


def test_it_is_offered_where_backends_are_chosen(counting: ModuleType) -> None:
    assert choice.available() == ["counting", "jax", "numba", "numpy", "onednn"]
    with pytest.raises(BackendError, match=r"'countin' is not part of this version.*\n.*'counting'"):
        choice.choose("countin")


OTHERWISE = {
    "cli/versions.py": "packages whose versions are told",
    "engine/paddle/_variable_methods.py": "the module of a type of numbers",
    "engine/paddle/jit/conversion/calls.py": "a package whose functions are called as they are",
    "engine/paddle/jit/conversion/members.py": "a method of tensors",
    "engine/gate/cache.py": "packages whose versions an answer depends on",
    "engine/script/imports.py": "packages that models of files may import",
    "engine/recorders/pytorch/recorder.py": "a method of torch's tensors",
    "engine/recorders/pytorch/patches.py": "a method of torch's tensors",
    "engine/recorders/real_paddle/patches.py": "a method of Paddle's tensors",
    "engine/sweeps/content.py": "packages whose versions workers must share",
    "engine/answers/why/of_journal.py": "a method of tensors",
    "engine/eager/exports.py": "a method of tensors",
    "engine/answers/training/validations.py": "a method of tensors",
    "engine/recorders/recorded/tensor_player.py": "a method of tensors",
    "engine/files/pickles.py": "modules that pickles name",
    "engine/ir/variable.py": "a method of tensors",
    "viz/views/doctor.py": "remarks about backends, and a package",
}
"""Files with the name of a backend in them, and what it means there."""


def test_no_module_outside_names_a_backend() -> None:
    """Nor imports its folder: it takes that of the executor or of the call, or ``choice.current()``."""
    naming = {str(file.relative_to(ROOT)) for file in SOURCES if names_a_backend(file)}
    assert naming == {*OTHERWISE}


def names_a_backend(file: Path) -> bool:
    """Whether a module outside ``kernels`` has the name of a backend as a text, or imports its folder."""
    if ROOT / "engine" / "kernels" in file.parents:
        return False
    folders = [name for name in choice.available() if name != "counting"]
    text = file.read_text(encoding="utf-8")
    if not any(folder in text for folder in folders):
        return False
    nodes = list(ast.walk(ast.parse(text)))
    modules = [node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)]
    texts = [node.value for node in nodes if isinstance(node, ast.Constant)]
    return any(re.search(rf"kernels\.({'|'.join(folders)})\b", m) for m in modules) or any(f in texts for f in folders)
