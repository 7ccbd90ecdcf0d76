"""Devices by the names that people use: ``cpu``, ``gpu``, ``gpu:1``, ``tpu``."""

from __future__ import annotations

import re
from typing import Any

import jax

from ...core.errors import BackendError

KINDS = ("cpu", "gpu", "tpu")

_HINTS = {
    "gpu": "leave it out to compute on what is there; NVIDIA's GPUs need pip install 'jax[cuda13]', see JAX's guide",
    "tpu": "leave it out to compute on what is there; TPUs need pip install 'jax[tpu]'",
}


def device(name: str) -> Any:
    """The device of that name.

    Raises:
        BackendError: it is no name of a device, or JAX does not see it; the message says what it sees.
    """
    found = re.fullmatch(r"([a-z]+)(?::(\d+))?", name)
    if found is None or found[1] not in KINDS:
        raise BackendError(f"device {name!r} is none of {', '.join(KINDS)}", hint="gpu:1 is the second GPU")
    kind, number = found[1], int(found[2] or 0)
    try:
        devices = jax.local_devices(backend=kind)
    except RuntimeError:
        devices = []
    if number >= len(devices):
        raise BackendError(
            f"device {name!r}: JAX sees {device_summary()}", hint=_HINTS.get(kind, f"cpu:0 to cpu:{number}")
        )
    return devices[number]


def device_summary() -> str:
    """Return the devices that JAX sees, such as ``2 gpu, 1 cpu``."""
    counts = {}
    for kind in ("tpu", "gpu", "cpu"):
        try:
            counts[kind] = len(jax.local_devices(backend=kind))
        except RuntimeError:
            continue
    return ", ".join(f"{count} {kind}" for kind, count in counts.items())


def current_device() -> str:
    """The device that is computed on by itself, ``cpu:0``."""
    config: Any = jax.config
    chosen = config.jax_default_device or jax.local_devices()[0]
    return chosen if isinstance(chosen, str) else f"{chosen.platform}:{chosen.id}"
