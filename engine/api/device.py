"""``paddle.device``: places. This version computes on the CPU only, as a Paddle built without CUDA does."""

from __future__ import annotations

import os

from gradtool.engine.core.errors import ArgumentTypeError, UnsupportedError, UsageError


class CPUPlace:
    """The CPU; all of them are equal."""

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


class CUDAPlace(_OtherPlace):
    """A graphics card."""


class CUDAPinnedPlace(_OtherPlace):
    """Memory that a graphics card copies from."""


class XPUPlace(_OtherPlace):
    """Another accelerator."""


def cpu_places(device_count: int | None = None) -> list[CPUPlace]:
    """That many CPU places; as many as ``CPU_NUM`` says (1 by default) when None."""
    count = int(os.environ.get("CPU_NUM", "1")) if device_count is None else device_count
    return [CPUPlace()] * count


def cuda_places(device_ids: list[int] | None = None) -> list[CUDAPlace]:
    """Raises :class:`NotCompiled`: there are none."""
    raise NotCompiled("Not compiled with CUDA", hint="use cpu_places()")


class NotCompiled(UnsupportedError, AssertionError):
    """A device of a kind that is not there (Paddle raises AssertionError)."""


def set_device(device: str) -> CPUPlace:
    """Compute on *device*, which must be ``"cpu"``.

    Raises:
        ArgumentTypeError: no string (a TypeError).
        UsageError: any other device (a ValueError).
    """
    if not isinstance(device, str):
        raise ArgumentTypeError(f"The device must be a string such as 'cpu', but received {type(device).__name__}.")
    name = device.lower().partition(":")[0]
    if name == "cpu":
        return CPUPlace()
    if name in ("gpu", "xpu", "npu", "dcu"):
        raise UnsupportedError(
            f"The device should not be {device!r}: this version of gradtool computes on the CPU only."
        )
    raise UsageError(f"The device must be a string such as 'cpu', but received {device!r}.")


def get_device() -> str:
    """``"cpu"``."""
    return "cpu"


def is_compiled_with_cuda() -> bool:
    """False: this version computes on the CPU only."""
    return False


is_compiled_with_rocm = is_compiled_with_xpu = is_compiled_with_cinn = is_compiled_with_cuda

is_compiled_with_ipu = is_compiled_with_distribute = is_compiled_with_cuda


def is_compiled_with_custom_device(device_type: str) -> bool:
    """False: this version computes on the CPU only."""
    return False


def get_cudnn_version() -> None:
    """None: there is no such library here."""


def get_default_device() -> str:
    """``"cpu"``, where new tensors are made."""
    return "cpu"


def set_default_device(device: str) -> None:
    """Make new tensors on *device*, as :func:`set_device`, which refuses any but the CPU."""
    set_device(device)


class device_guard:
    """Compute on *device* inside ``with``; any but the CPU is refused."""

    def __init__(self, device: str | CPUPlace) -> None:
        if not isinstance(device, CPUPlace):
            set_device(device)

    def __enter__(self) -> None:
        """Nothing changes: it is computed on the CPU already."""

    def __exit__(self, *_: object) -> None:
        """Nothing is put back."""
