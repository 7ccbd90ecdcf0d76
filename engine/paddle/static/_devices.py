"""``static.device_guard``: where operators are to be computed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from gradtool.engine.core.errors import UsageError, expect_type

DEVICES = ("cpu", "gpu", "dcu", "xpu")


@contextmanager
def device_guard(device: str | None = None) -> Iterator[None]:
    """Ask for a device for the operators that are made inside.

    gradtool places no operators: all of them are computed on the CPU, and their ``op_device`` stays empty. So models
    that are spread over devices are the same program here.

    Args:
        device: ``'cpu'``, ``'gpu'``, ``'gpu:1'``, ``'xpu'``, ``'dcu'``; empty or None for wherever it pays.

    Raises:
        UsageError: another device (a ValueError).
        ArgumentTypeError: no string (a TypeError).
    """
    expect_type(device, (str, type(None)), "device", "paddle.static.device_guard")
    kind, _, number = (device or "").partition(":")
    if kind == "cpu" and number:
        raise UsageError("Should not set device id for cpu.")
    if device and kind not in DEVICES:
        raise UsageError(
            "The Attr(device) should be 'cpu', 'xpu', 'dcu', 'gpu' or custom device, and it can also be empty string "
            f"or None when there is no need to specify device. But received {device}"
        )
    yield
