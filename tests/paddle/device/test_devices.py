"""Places and devices, as a Paddle that is built without accelerators answers."""

from __future__ import annotations

import pytest

from gradtool import paddle
from gradtool.engine.kernels.backend import DeviceWarning
from gradtool.paddle import device


def test_the_cpu_is_a_place() -> None:
    place = paddle.CPUPlace()
    assert place.is_cpu_place()
    assert not place.is_gpu_place() and not place.is_xpu_place() and not place.is_custom_place()  # noqa: PT018
    assert place._type() == 1
    assert device.set_device(None) == device.set_device(place) == device.set_device(0) == place


@pytest.mark.parametrize("make", [paddle.CUDAPinnedPlace, paddle.IPUPlace])
def test_other_places_are_refused(make: type) -> None:
    with pytest.raises(ValueError, match="computes on the CPU only"):
        make()
    with pytest.raises(ValueError, match=r"XPUPlace\(2\): this version"):
        paddle.XPUPlace(2)
    with pytest.raises(ValueError, match=r"CustomPlace\(1\): this version"):
        paddle.CustomPlace("npu", 1)


def test_what_is_meant_for_a_gpu_is_computed_on_the_cpu_with_a_warning() -> None:
    place = paddle.CUDAPlace(1)
    assert (place.get_device_id(), repr(place), place.is_gpu_place()) == (1, "Place(gpu:1)", True)
    assert place == paddle.CUDAPlace(1) != paddle.CUDAPlace(0)
    with pytest.warns(DeviceWarning, match=r"set_device\('gpu'\): backend '\w+' sees no such device"):
        assert paddle.set_device("gpu") == paddle.CPUPlace()
    with pytest.warns(DeviceWarning, match=r"Executor\(Place\(gpu:1\)\)") as told:
        executor = paddle.static.Executor(place)
    assert told[0].filename == __file__
    paddle.enable_static()
    assert executor.run(paddle.static.Program()) == []
    assert paddle.get_device() == "cpu"


def test_there_are_no_other_devices() -> None:
    assert device.get_all_device_type() == device.get_available_custom_device() == []
    assert device.device_count() == device.cuda.device_count() == 0
    device.cuda.empty_cache()
    with pytest.raises(
        AttributeError, match=r"paddle\.device\.cuda\.synchronize is not implemented in gradtool: it is about"
    ):
        device.cuda.synchronize()
    with pytest.raises(AttributeError, match=r"paddle\.device\.xpu\.synchronize is not implemented"):
        device.xpu.synchronize()


def test_dynamic_mode_takes_a_place() -> None:
    paddle.disable_static(paddle.CPUPlace())
    assert paddle.ones([1]).place == paddle.CPUPlace()
    assert paddle.ones([2]).numpy(False).tolist() == [1, 1]
