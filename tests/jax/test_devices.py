"""Where programs are computed, with virtual CPUs in place of a GPU: what places and ``set_device`` say."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import jax
import numpy as np
import pytest

from gradtool import paddle
from gradtool.engine.core import state
from gradtool.engine.kernels.choice import use_backend
from gradtool.paddle import device, static


@pytest.fixture(autouse=True)
def _machine_with_a_gpu(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The first device, which JAX takes by itself, and the third are said to be GPUs, the second to be the CPU."""
    devices = jax.devices()
    seen = {None: [devices[0]], "gpu": [devices[0], devices[2]], "cpu": [devices[1]], "tpu": []}
    monkeypatch.setattr(jax, "local_devices", lambda backend=None: seen[backend])
    paddle.enable_static()
    with state.keep_state(), use_backend("jax"), static.program_guard(static.Program()):
        yield
    paddle.disable_static()


def where(executor: static.Executor) -> int:
    """The number of the device that a program is computed on."""
    x = static.data("x", [3])
    (out,) = executor.run(feed={"x": np.ones(3, "float32")}, fetch_list=[x + 1], return_numpy=False)
    (place,) = out.value.devices()
    return int(place.id)


@pytest.mark.parametrize(
    ("place", "number"),
    [(None, 0), (paddle.CUDAPlace(0), 0), (paddle.CUDAPlace(1), 2), (paddle.CPUPlace(), 1)],
    ids=str,
)
def test_a_place_decides(place: Any, number: int) -> None:
    assert where(static.Executor(place)) == number


def test_set_device_decides_for_executors_without_a_place() -> None:
    assert paddle.get_device() == "gpu:0"
    for name, number in (("cpu", 1), ("gpu:1", 2), ("gpu", 0)):
        place = paddle.set_device(name)
        assert paddle.get_device() == place.device
        with static.program_guard(static.Program()):
            assert where(static.Executor()) == number
    with state.keep_state():
        paddle.set_device("cpu")
    assert paddle.get_device() == "gpu:0"


def test_what_the_user_says_outside_of_the_script_is_not_undone_by_a_cpu_place() -> None:
    with jax.default_device(jax.devices()[3]):
        assert where(static.Executor(paddle.CPUPlace())) == 3


def test_gpus_are_counted() -> None:
    assert paddle.is_compiled_with_cuda()
    assert not paddle.is_compiled_with_xpu()
    assert device.device_count() == device.cuda.device_count() == 2
    assert static.cuda_places() == [paddle.CUDAPlace(0), paddle.CUDAPlace(1)]
    assert static.cuda_places([1]) == [paddle.CUDAPlace(1)]
