"""Stores of Zarr: rows are read when they are asked for, so that a worker reads the chunks that it uses.

``data.zarr`` is an array, or a group of arrays; ``data.zarr/train`` is a group in it. Rows that a store does not have
chunks of are its fill value, as Zarr has it.
"""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import ModuleType
from typing import Any, Final

import numpy as np

from ..core.command_errors import CommandError

_METADATA: Final = ("zarr.json", ".zarray", ".zgroup")


def is_store(path: str) -> bool:
    """Return whether a path is that of a store, or leads into one."""
    return any(part.lower().endswith(".zarr") for part in path.replace(os.sep, "/").split("/"))


def stamp(path: str) -> tuple[object, ...]:
    """Return a stamp that changes when arrays of a store come, go or get another shape; their chunks are read every
    time.
    """
    folders = (glob.escape(path), os.path.join(glob.escape(path), "*"))
    files = [file for folder in folders for name in _METADATA for file in glob.glob(os.path.join(folder, name))]
    return tuple((file, os.stat(file).st_mtime_ns, os.stat(file).st_size) for file in sorted(files))


def open_store(zarr: ModuleType, path: str) -> Mapping[str | None, Any]:
    """The arrays by name; a lone one under None.

    Args:
        zarr: the library.

    Raises:
        CommandError: nothing is there, it is damaged, or a group holds no arrays.
    """
    with _read(path):
        root = zarr.open(path, mode="r")
        if isinstance(root, zarr.Array):
            return {None: StoredArray(root, path)}
        arrays = {name: StoredArray(array, path) for name, array in sorted(root.arrays())}
        if not arrays:
            groups = ", ".join(f"{path.rstrip('/')}/{name}" for name in sorted(root.group_keys()))
            raise CommandError(f"{path} holds no arrays", f"it has groups: {groups}" if groups else None)
        return {**arrays}


class StoredArray:
    """An array of a store, which is read where it is indexed."""

    def __init__(self, array: Any, path: str) -> None:
        self._array = array
        self._path = path

    @property
    def shape(self) -> tuple[int, ...]:
        """As an array's."""
        return tuple(self._array.shape)

    @property
    def dtype(self) -> np.dtype[Any]:
        """As an array's."""
        dtype: np.dtype[Any] = np.dtype(self._array.dtype)
        return dtype

    def __getitem__(self, rows: Any) -> Any:
        with _read(self._path):
            return self._array[rows]


@contextmanager
def _read(path: str) -> Iterator[None]:
    """Turn the errors of a damaged store into one: metadata, a chunk, what its codec makes of it."""
    try:
        yield
    except FileNotFoundError:
        raise CommandError(f"cannot read {path}: no array and no group of Zarr is there") from None
    except (OSError, ValueError, KeyError, TypeError, RuntimeError) as error:
        told = str(error).partition("\n")[0] or type(error).__name__
        raise CommandError(f"cannot read {path}: {told}") from None
