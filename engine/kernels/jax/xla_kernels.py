"""Kernels and rewritings that JAX needs: what cannot be said with ``jax.numpy``, or what XLA has better.

Each file registers its own when it is imported.
"""

from __future__ import annotations

import os

import jax

from ..backend import Backend
from ..choice import DEVICE
from . import (  # noqa: F401
    arrays,
    assumptions,
    block_observations,
    boxes,
    complex_parts,
    conditional,
    convolution,
    devices,
    disk,
    factors,
    hosts,
    masks,
    measuring,
    order,
    pooling,
    powers,
    pytrees,
    recurrent,
    regions,
    rows,
    stacked_array,
    stacked_values,
    streams,
    xla,
)


def connect() -> Backend:
    """Return the backend, with this process connected to its hosts and devices."""
    hosts.connect()  # before JAX looks for devices
    if os.environ.get(DEVICE):
        jax.config.update("jax_default_device", devices.device(os.environ[DEVICE]))
    disk.keep_compiled_code()
    for module in (
        assumptions,
        conditional,
        block_observations,
        measuring,
        pytrees,
        stacked_values,
        stacked_array,
        streams,
    ):
        module.register()
    return xla.XlaBackend("jax", ("jax",))
