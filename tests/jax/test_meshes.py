"""Programs over eight devices: what they compute is what one device computes."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import numpy as np
import pytest

from gradtool import paddle
from gradtool.engine.core.errors import BackendError, UsageError
from gradtool.engine.kernels.jax import hosts
from tests.jax.of_two_hosts import losses


def mlp() -> tuple[Any, dict[str, Any]]:
    x = paddle.static.data("x", [None, 6], "float32")
    y = paddle.static.data("y", [None, 1], "int64")
    h = paddle.nn.functional.gelu(paddle.static.nn.fc(x, 8))
    return paddle.nn.functional.cross_entropy(paddle.static.nn.fc(h, 4), y), {
        "x": made(16, 6),
        "y": np.arange(16).reshape(16, 1) % 4,
    }


def convolution() -> tuple[Any, dict[str, Any]]:
    x = paddle.static.data("x", [None, 2, 6, 6], "float32")
    h = paddle.static.nn.conv2d(x, 4, 3, padding=1, bias_attr=False)
    h = paddle.nn.functional.relu(paddle.static.nn.batch_norm(h))
    return paddle.mean(paddle.nn.functional.max_pool2d(h, 2) ** 2), {"x": made(16, 2, 6, 6)}


def transformer() -> tuple[Any, dict[str, Any]]:
    x = paddle.static.data("x", [None, 4, 8], "float32")
    q, k, v = (paddle.static.nn.fc(x, 8, num_flatten_dims=2) for _ in range(3))
    weights = paddle.nn.functional.softmax(paddle.matmul(q, k, transpose_y=True) / 8**0.5)
    h = paddle.static.nn.layer_norm(x + paddle.matmul(weights, v), begin_norm_axis=2)
    return paddle.mean(paddle.static.nn.fc(h, 8, num_flatten_dims=2, activation="gelu") * x), {"x": made(8, 4, 8)}


def embedding() -> tuple[Any, dict[str, Any]]:
    ids = paddle.static.data("ids", [None, 3], "int64")
    rows = paddle.static.nn.embedding(ids, [16, 8])
    return paddle.mean(paddle.tanh(rows).sum(1) ** 2), {"ids": np.arange(48).reshape(16, 3) * 7 % 16}


def made(*shape: int) -> Any:
    return np.random.default_rng(5).normal(size=shape).astype("float32")


@pytest.mark.parametrize("build", [mlp, convolution, transformer, embedding], ids=lambda b: b.__name__)
def test_gradients_are_those_of_one_device(build: Callable[[], tuple[Any, dict[str, Any]]]) -> None:
    main, startup = paddle.static.Program(), paddle.static.Program()
    main.random_seed = startup.random_seed = 3
    with paddle.static.program_guard(main, startup), paddle.utils.unique_name.guard():
        loss, feed = build()
        pairs = paddle.static.append_backward(loss)
    fetched = [loss, *(g for _, g in pairs)]
    results = []
    for mesh in (None, "data=8", {"data": 4, "model": 2}):
        with paddle.static.scope_guard(paddle.static.Scope()):
            paddle.static.Executor().run(startup)
            exe = paddle.static.Executor(backend="jax" if mesh else "numpy", mesh=mesh)
            results.append(exe.run(main, feed, fetched))
    for other in results[1:]:
        for variable, one, several in zip(fetched, results[0], other, strict=True):
            np.testing.assert_allclose(several, one, rtol=2e-4, atol=2e-6, err_msg=variable.name)


def trained(mesh: Any, steps: int = 3, **more: Any) -> tuple[list[float], Any, Any]:
    """Losses of a training, what a weight is afterwards, and where it lies."""
    main, startup = paddle.static.Program(), paddle.static.Program()
    main.random_seed = startup.random_seed = 3
    scope = paddle.static.Scope()
    with paddle.static.program_guard(main, startup), paddle.utils.unique_name.guard():
        loss, feed = mlp()
        paddle.optimizer.Adam(0.05).minimize(loss)
    with paddle.static.scope_guard(scope):
        paddle.static.Executor().run(startup)
        exe = paddle.static.Executor(backend="jax" if mesh else "numpy", mesh=mesh, **more)
        losses = [float(exe.run(main, feed, [loss])[0]) for _ in range(steps)]
    return losses, scope.values["fc_0.w_0"], scope.values.raw["fc_0.w_0"]


def test_a_training_goes_as_on_one_device_and_parameters_stay_spread() -> None:
    losses, weight, _ = trained(None)
    others, spread, there = trained("data=4,model=2")
    np.testing.assert_allclose(others, losses, rtol=1e-5)
    np.testing.assert_allclose(spread, weight, rtol=1e-3, atol=1e-5)
    assert {shard.data.shape for shard in there.addressable_shards} == {(6, 4)}
    assert len(there.sharding.device_set) == 8


def test_parameters_lie_as_told() -> None:
    _, _, there = trained("model=2", 1, shards={"fc_*.w_0": ("model", None)})
    assert {shard.data.shape for shard in there.addressable_shards} == {(3, 8)}
    with pytest.raises(UsageError, match=r"fc_0.w_0 \[6, 8\] cannot be spread as \('data',\)"):
        trained("model=2", 1, shards={"fc_0.w_0": ("data",)})


@pytest.mark.parametrize("mesh", ["data", "data=0", "rows=2", "data=2,data=2", ""])
def test_what_is_no_mesh_is_refused(mesh: str) -> None:
    with pytest.raises(UsageError, match="a mesh is data=N"):
        paddle.static.Executor(backend="jax", mesh=mesh)


def test_a_mesh_needs_devices_and_a_backend_that_has_them() -> None:
    with pytest.raises(BackendError, match="takes 64 devices, and JAX sees 8"):
        paddle.static.Executor(backend="jax", mesh="data=64")
    with pytest.raises(BackendError, match="'numpy' computes on one device"):
        paddle.static.Executor(backend="numpy", mesh="data=2")


def test_rows_are_shared_out() -> None:
    assert len(jax.devices()) == 8
    main = paddle.static.Program()
    with paddle.static.program_guard(main, paddle.static.Program()):
        x = paddle.static.data("x", [None, 2], "float32")
        y = x * 2
    exe = paddle.static.Executor(backend="jax", mesh="data=8")
    for rows in (16, 5):  # 5 rows: each device has all of them
        (value,) = exe.run(main, {"x": made(rows, 2)}, [y])
        np.testing.assert_array_equal(value, made(rows, 2) * 2)


def test_two_processes_compute_as_one(tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
    script = Path(__file__).with_name("of_two_hosts.py")
    several = {
        **os.environ,
        "XLA_FLAGS": "--xla_force_host_platform_device_count=4",
        "GRADTOOL_COORDINATOR": address,
        "GRADTOOL_PROCESSES": "2",
    }
    processes = [
        subprocess.Popen(
            [sys.executable, str(script)],
            env={**several, "GRADTOOL_PROCESS": str(n)},
            cwd=tmp_path,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for n in range(2)
    ]
    said = [process.communicate(timeout=300) for process in processes]
    assert [p.returncode for p in processes] == [0, 0], said
    found = [json.loads(out.splitlines()[-1]) for out, _ in said]  # Gloo talks before
    assert found[0] == found[1]
    np.testing.assert_allclose(found[0], losses(None, "numpy"), rtol=1e-4)


def test_half_an_address_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRADTOOL_COORDINATOR", "127.0.0.1:1")
    monkeypatch.delenv("GRADTOOL_PROCESSES", raising=False)
    with pytest.raises(BackendError, match="GRADTOOL_PROCESSES is not"):
        hosts.connect()
