"""``paddle.device``: places. What a script means for a GPU is computed on the CPU where none is, with a warning."""

from __future__ import annotations

import importlib
import itertools
import os
from typing import Any

from gradtool.engine.core import state
from gradtool.engine.core.errors import ArgumentTypeError, UnsupportedError, UsageError
from gradtool.engine.kernels.choice import current
from gradtool.paddle import _lazy


class CPUPlace:
    """The CPU; all of them are equal.

    Attributes:
        device: its name.
    """

    device = "cpu"

    def is_cpu_place(self) -> bool:
        """True."""
        return True

    def is_gpu_place(self) -> bool:
        """False, as of any other kind of device."""
        return False

    is_cuda_pinned_place = is_custom_place = is_ipu_place = is_xpu_place = is_xpu_pinned_place = is_gpu_place

    def _type(self) -> int:
        """The number of this kind of place."""
        return 1

    def __eq__(self, other: object) -> bool:
        return isinstance(other, CPUPlace)

    def __hash__(self) -> int:
        return hash(CPUPlace)

    def __repr__(self) -> str:
        return "Place(cpu)"


class _OtherPlace:
    """A place that this version does not have: making one raises :class:`UnsupportedError` (a ValueError)."""

    def __init__(self, device: int = 0) -> None:
        raise UnsupportedError(
            f"{type(self).__name__}({device}): this version of gradtool computes on the CPU only.",
            hint="use paddle.CPUPlace(), or ask paddle.is_compiled_with_cuda() first",
        )


class CUDAPlace:
    """A graphics card, for an executor whose backend sees it; any other one computes on the CPU, with a warning.

    Attributes:
        device: its name, ``gpu:0``.
    """

    def __init__(self, device: int = 0) -> None:
        self.device = f"gpu:{device}"

    def get_device_id(self) -> int:
        """Its number, from 0."""
        return int(self.device.partition(":")[2])

    def is_gpu_place(self) -> bool:
        """True."""
        return True

    def is_cpu_place(self) -> bool:
        """False, as of any other kind of device."""
        return False

    is_cuda_pinned_place = is_custom_place = is_ipu_place = is_xpu_place = is_xpu_pinned_place = is_cpu_place

    def _type(self) -> int:
        """The number of this kind of place."""
        return 2

    def __eq__(self, other: object) -> bool:
        return isinstance(other, CUDAPlace) and other.device == self.device

    def __hash__(self) -> int:
        return hash(self.device)

    def __repr__(self) -> str:
        return f"Place({self.device})"


class CUDAPinnedPlace(_OtherPlace):
    """Memory that a graphics card copies from."""


class XPUPlace(_OtherPlace):
    """Another accelerator."""

    def __init__(self, dev_id: int) -> None:
        super().__init__(dev_id)


class IPUPlace(_OtherPlace):
    """Another accelerator."""

    def __init__(self) -> None:
        super().__init__()


class CustomPlace(_OtherPlace):
    """An accelerator that is plugged in."""

    def __init__(self, device_type: str, device: int = 0) -> None:
        super().__init__(device)


def cpu_places(device_count: int | None = None) -> list[CPUPlace]:
    """Return *device_count* CPU places; as many as ``CPU_NUM`` names (1 by default) when None."""
    count = int(os.environ.get("CPU_NUM", "1")) if device_count is None else device_count
    return [CPUPlace()] * count


def cuda_places(device_ids: list[int] | None = None) -> list[CUDAPlace]:
    """The places of the GPUs of these numbers; all that the backend sees when None.

    Raises:
        NotCompiled: it sees none.
    """
    if not device_count():
        raise NotCompiled("Not compiled with CUDA", hint="use cpu_places()")
    return [CUDAPlace(n) for n in (range(device_count()) if device_ids is None else device_ids)]


class NotCompiled(UnsupportedError, AssertionError):
    """A device of a kind that is not there (Paddle raises AssertionError)."""


def set_device(device: str | CPUPlace | CUDAPlace | int | None) -> CPUPlace | CUDAPlace:
    """Have executors that name no place compute on *device*; of a number or None, it is the CPU, as in Paddle.

    ``"gpu"`` is where programs are computed by a backend that sees one (``--backend jax``, which takes it by itself);
    elsewhere the CPU computes, with a :class:`DeviceWarning`, so that a script for a GPU runs where there is none.

    Raises:
        ArgumentTypeError: no string (a TypeError).
        UsageError: any other device (a ValueError).
    """
    place = _place(device)
    if isinstance(place, CUDAPlace) and current().falls_back(place.device, f"set_device({device!r})", 3):
        place = CPUPlace()
    state.set_device(place.device)
    return place


def _place(device: str | CPUPlace | CUDAPlace | int | None) -> CPUPlace | CUDAPlace:
    """The place that *device* stands for; errors as for :func:`set_device`."""
    if isinstance(device, CUDAPlace):
        return device
    if device is None or isinstance(device, (CPUPlace, int)):
        return CPUPlace()
    if not isinstance(device, str):
        raise ArgumentTypeError(f"The device must be a string such as 'cpu', but received {type(device).__name__}.")
    name = device.lower().partition(":")[0]
    if name == "cpu":
        return CPUPlace()
    if name == "gpu":
        number = device.partition(":")[2] or "0"
        return CUDAPlace(int(number) if number.isdigit() else 0)
    if name in ("xpu", "npu", "dcu"):
        raise UnsupportedError(
            f"The device should not be {device!r}: this version of gradtool computes on the CPU only."
        )
    raise UsageError(f"The device must be a string such as 'cpu', but received {device!r}.")


def get_device() -> str:
    """Return the device where executors without a place compute: ``"cpu"``, or ``"gpu:0"`` where the backend takes that
    by itself.
    """
    return state.device() or ("gpu:0" if is_compiled_with_cuda() and current().is_at("gpu:0") else "cpu")


def is_compiled_with_cuda() -> bool:
    """Return whether the backend sees a GPU: only ``jax`` may."""
    return current().sees("gpu:0")


def is_compiled_with_rocm() -> bool:
    """False, as of any kind of device beside CPU and GPU."""
    return False


is_compiled_with_xpu = is_compiled_with_cinn = is_compiled_with_rocm

is_compiled_with_ipu = is_compiled_with_distribute = is_compiled_with_rocm


def is_compiled_with_custom_device(device_type: str) -> bool:
    """False: this version computes on the CPU only."""
    return False


def get_all_device_type() -> list[str]:
    """The kinds of devices beside the CPU: none."""
    return []


get_all_custom_device_type = get_available_device = get_available_custom_device = get_all_device_type


def device_count() -> int:
    """Return the number of GPUs that the backend sees."""
    return next(n for n in itertools.count() if not current().sees(f"gpu:{n}"))


def current_device() -> int:
    """0, as in Paddle on a CPU."""
    return 0


def is_available() -> bool:
    """Return whether there is a device other than the CPU."""
    return is_compiled_with_cuda()


def is_bf16_supported(including_emulation: bool = True) -> bool:
    """True: tensors of bfloat16 can be computed with."""
    return True


def is_current_stream_capturing() -> bool:
    """False: there are no streams."""
    return False


def device_to_place(device: Any = None) -> CPUPlace | CUDAPlace:
    """The place that *device* stands for; errors as for :func:`set_device`."""
    return _place(device)


def manual_seed(seed: int) -> None:
    """Start the stream of random numbers anew, as ``paddle.seed`` does."""
    importlib.import_module("gradtool.paddle").seed(seed)


manual_seed_all = manual_seed


def get_rng_state(device: Any = None) -> Any:
    """Return the state of the stream of random numbers."""
    return importlib.import_module("gradtool.paddle").get_rng_state(device)[0]


def set_rng_state(new_state: Any, device: Any = None) -> None:
    """Go on where the stream was when :func:`get_rng_state` gave *new_state*."""
    importlib.import_module("gradtool.paddle").set_rng_state([new_state], device)


def get_cudnn_version() -> None:
    """None: there is no such library here."""


def get_default_device() -> str:
    """``"cpu"``, where tensors of dynamic mode are made."""
    return "cpu"


def set_default_device(device: str) -> None:
    """Make new tensors on *device*, as :func:`set_device`, which refuses any but the CPU."""
    set_device(device)


class device_guard:
    """Compute on *device* inside ``with``, as :func:`set_device`."""

    def __init__(self, device: str | CPUPlace) -> None:
        if not isinstance(device, CPUPlace):
            set_device(device)

    def __enter__(self) -> None:
        """Nothing changes: it is computed on the CPU already."""

    def __exit__(self, *_: object) -> None:
        """Nothing is put back."""


device = device_guard

TENSORS = (
    "BFloat16Tensor",
    "BoolTensor",
    "ByteTensor",
    "CharTensor",
    "DoubleTensor",
    "FloatTensor",
    "HalfTensor",
    "IntTensor",
    "LongTensor",
    "ShortTensor",
)
"""What is there under this name, too."""


def __getattr__(name: str) -> Any:
    if name == "cuda":
        return importlib.import_module("gradtool.paddle.device.cuda")
    if name.startswith("__"):
        raise AttributeError(name)
    if name in TENSORS:
        return getattr(importlib.import_module("gradtool.paddle"), name)
    return _lazy.fallback(__name__, name, lambda: [n for n in globals() if not n.startswith("_")])


def __dir__() -> list[str]:
    return sorted({*globals(), "cuda", *TENSORS})
