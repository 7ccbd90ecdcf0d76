"""Behaviour of dynamic mode on a device: its tensors are computed on the CPU."""

from __future__ import annotations

import warnings
from typing import Any

from gradtool.engine.core.errors import BackendError
from gradtool.engine.kernels.backend import DeviceWarning


def stays_on_cpu(device: Any, what: str, stacklevel: int = 3) -> None:
    """Keep on the CPU what a script means for *device*; warn once for each line, if that is a GPU.

    Raises:
        BackendError: no CPU and no GPU.
    """
    name = str(getattr(device, "device", device)).lower().partition(":")[0]
    if name in ("gpu", "cuda"):
        said = f"{what}: tensors of dynamic mode are computed on the CPU, programs where their executor says"
        warnings.warn(said, DeviceWarning, stacklevel)
    elif name not in ("cpu", "none", "place(cpu)"):
        raise BackendError(f"{what}: gradtool computes on the CPU.", hint="use 'cpu'")
