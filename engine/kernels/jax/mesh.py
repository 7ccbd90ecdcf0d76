"""Several devices: how feeds and parameters are spread over a mesh of them, and XLA does the rest.

A program means the same on a mesh as on one device: rows of feeds lie along the axis ``data``, columns of parameters
along ``model`` where they are asked to, and XLA sums gradients over the devices where the mathematics says so (GSPMD).
"""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Mapping, Sequence
from typing import Any

import jax
import numpy as np
from jax.sharding import NamedSharding, PartitionSpec

from ...core.errors import BackendError, UsageError

DATA, MODEL = "data", "model"
_AXIS = re.compile(r"\s*([A-Za-z_]\w*)\s*=\s*([0-9]+)\s*\Z")


def axes_of(text: str) -> dict[str, int]:
    """The axes of ``data=4,model=2`` with their sizes.

    Raises:
        UsageError: it is something else.
    """
    axes: dict[str, int] = {}
    for part in text.split(","):
        found = _AXIS.match(part)
        if found is None or int(found[2]) < 1 or found[1] in axes or found[1] not in (DATA, MODEL):
            raise UsageError(
                f"a mesh is {DATA}=N, {MODEL}=N or both, but received {text!r}",
                hint=f"{DATA}=8 spreads rows of feeds over 8 devices; {DATA}=4,{MODEL}=2 columns of weights, too",
            )
        axes[found[1]] = int(found[2])
    return axes


class Mesh:
    """Devices in rows and columns, and what lies where.

    Args:
        axes: size by name of axis.
        shards: for parameters whose names match a pattern, the name of an axis (or None) for each dimension; the first
            pattern that matches counts. Others are spread along ``model`` by their last dimension, if they have at
            least two and the axis divides it.
        platform: of the devices; that of JAX's default ones if None.

    Raises:
        BackendError: there are fewer devices.
    """

    def __init__(
        self,
        axes: Mapping[str, int],
        shards: Mapping[str, Sequence[str | None]] | None = None,
        platform: str | None = None,
    ) -> None:
        self.axes = dict(axes)
        self.shards = {pattern: tuple(dims) for pattern, dims in (shards or {}).items()}
        needed = int(np.prod([*axes.values()]))
        devices = jax.devices(platform)
        if len(devices) < needed:
            raise BackendError(
                f"a mesh of {self} takes {needed} devices, and JAX sees {len(devices)} ({devices[0].platform})",
                hint=f"XLA_FLAGS=--xla_force_host_platform_device_count={needed} makes as many of one CPU",
            )
        self.mesh = jax.sharding.Mesh(np.array(devices[:needed]).reshape([*axes.values()]), tuple(axes))
        self.whole = NamedSharding(self.mesh, PartitionSpec())

    def __str__(self) -> str:
        return ",".join(f"{name}={size}" for name, size in self.axes.items())

    @property
    def name(self) -> str:
        """Name that differs from those of other meshes."""
        return f"{self} {self.shards}" if self.shards else str(self)

    def feed_sharding(self, shape: Sequence[int]) -> NamedSharding:
        """Return the placement of a fed value of that shape: by rows along ``data``, if they can be shared out
        evenly.
        """
        size = self.axes.get(DATA, 1)
        if size > 1 and shape and shape[0] and shape[0] % size == 0:
            return NamedSharding(self.mesh, PartitionSpec(DATA))
        return self.whole

    def parameter_sharding(self, name: str, shape: Sequence[int]) -> NamedSharding:
        """Return the placement of the persistable variable of that name.

        Raises:
            UsageError: a pattern says otherwise than its shape allows.
        """
        for pattern, dims in self.shards.items():
            if fnmatch.fnmatchcase(name, pattern):
                return self._as_told(name, shape, dims)
        size = self.axes.get(MODEL, 1)
        if size > 1 and len(shape) > 1 and shape[-1] % size == 0:
            return NamedSharding(self.mesh, PartitionSpec(*[None] * (len(shape) - 1), MODEL))
        return self.whole

    def _as_told(self, name: str, shape: Sequence[int], dims: Sequence[str | None]) -> NamedSharding:
        fits = len(dims) <= len(shape) and all(
            axis is None or (axis in self.axes and n % self.axes[axis] == 0)
            for axis, n in zip(dims, shape, strict=False)
        )
        if not fits:
            raise UsageError(
                f"{name} {list(shape)} cannot be spread as {tuple(dims)} over {self}",
                hint="an axis of the mesh for each dimension, or None; its size divides the dimension",
            )
        return NamedSharding(self.mesh, PartitionSpec(*dims))

    def put(self, value: Any, sharding: NamedSharding) -> Any:
        """*value*, which every process holds whole, where it belongs."""
        if isinstance(value, jax.Array) and value.sharding == sharding:
            return value
        if jax.process_count() == 1:
            return jax.device_put(value, sharding)
        array = np.asarray(value)
        return jax.make_array_from_callback(array.shape, sharding, lambda index: array[index])
