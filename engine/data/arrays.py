"""Arrays by name in the files that a sweep goes through, read by whoever uses them: ``.npz``, ``.npy``, Parquet, Zarr.

A path with a protocol (``s3://…``) is read through fsspec. Libraries are imported when such a path is given.
"""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from importlib import import_module
from typing import Any, Final

import numpy as np

from ..core.command_errors import CommandError
from . import digests, npz, stores
from .row_subset import Portion

Array = np.ndarray[Any, Any]

Reader = Callable[[str], Mapping[str | None, Any]]
"""From a path to what can be indexed by rows, by name; the lone array of a file without names under None."""


def is_remote(path: str) -> bool:
    """Return whether a path has a protocol."""
    return "://" in path


def must_be_there(path: str) -> None:
    """Raise :class:`CommandError` where there is no such file, or of a kind that nobody reads."""
    _reader(path)
    if not is_remote(path) and not os.path.exists(path):
        raise CommandError(f"no such file: {path}")


def identity(path: str) -> str:
    """Return the identity of a file's contents; of one behind a protocol, as its file system reports it."""
    if is_remote(path):
        system, inner = file_system(path)
        try:
            if not system.isdir(inner):
                return str(system.checksum(inner))
            # What a file system says of a folder need not change with the files in it.
            return digests.digest_parts((file, system.checksum(file)) for file in sorted(system.find(inner)))
        except OSError as error:
            raise CommandError(f"cannot read {path}: {error}") from None
    try:
        return digests.digest_file(path)
    except OSError as error:
        raise CommandError(f"cannot read {path}: {error.strerror or error}") from None


def length(path: str) -> int:
    """Return the number of rows in a file.

    Raises:
        CommandError: it cannot be read, or its arrays differ in that.
    """
    arrays = _open(path)
    lengths = {name: _rows(array, name, path) for name, array in arrays.items()}
    if not lengths:
        raise CommandError(f"{path} holds no arrays")
    if len({*lengths.values()}) > 1:
        told = ", ".join(f"{name} has {rows}" for name, rows in lengths.items())
        raise CommandError(f"{path}: arrays of different numbers of rows: {told}", "a row is one of each array")
    rows = next(iter(lengths.values()))
    if not rows:
        raise CommandError(f"{path} has no rows")
    return rows


def _rows(array: Any, name: str | None, path: str) -> int:
    if not array.shape:
        raise CommandError(f"{path}: {name or 'its array'} is a single number and has no rows")
    return int(array.shape[0])


def take(portion: Portion, chosen: Sequence[int] | None = None, dtype: str | None = None) -> dict[str | None, Array]:
    """The arrays of a portion of the data.

    Args:
        chosen: the rows in place of the portion's own; they may come several times.
        dtype: what floating numbers become; None to leave them as they are.
    """
    told = _take(portion, chosen)
    if dtype is None:
        return told
    return {name: array.astype(dtype) if array.dtype.kind == "f" else array for name, array in told.items()}


def _take(portion: Portion, chosen: Sequence[int] | None) -> dict[str | None, Array]:
    arrays = _open(portion.path)
    if chosen is not None:
        return {name: _gather(array, chosen) for name, array in arrays.items()}
    if portion.rows is None:
        return {name: _own(array[...]) for name, array in arrays.items()}
    first, after = portion.rows
    return {name: _own(array[first:after]) for name, array in arrays.items()}


def _gather(array: Any, rows: Sequence[int]) -> Array:
    return _own(np.concatenate([np.asarray(array[row : row + 1]) for row in rows]))


def _own(array: Any) -> Array:
    """A copy in the machine's byte order, which may be written to."""
    dtype = np.dtype(array.dtype)
    return np.array(array, dtype if dtype.isnative else dtype.newbyteorder("="))


@lru_cache(maxsize=1)
def _open_as(path: str, stamp: tuple[object, ...]) -> Mapping[str | None, Any]:
    return _reader(path)(path)


def _open(path: str) -> Mapping[str | None, Any]:
    """The arrays of a file; the last one stays open, as long as it is what it was."""
    stamp: tuple[object, ...] = ()
    if not is_remote(path):
        try:
            status = os.stat(path)
        except OSError as error:
            raise CommandError(f"cannot read {path}: {error.strerror or error}") from None
        stamp = stores.stamp(path) if stores.is_store(path) else (status.st_mtime_ns, status.st_size)
    return _open_as(path, stamp)


def _reader(path: str) -> Reader:
    ending = ".zarr" if stores.is_store(path) else os.path.splitext(path.rstrip("/"))[1].lower()
    if ending not in READERS:
        raise CommandError(
            f"{path}: arrays are read from {', '.join(READERS)}",
            "np.savez(FILE, x=…) writes an .npz file",
        )
    return READERS[ending]


# -- one reader for each ending ---------------------------------------------------------------------------------------


def _open_npz(path: str) -> Mapping[str | None, Any]:
    if is_remote(path):
        return _load(path)
    with npz.report_errors(path, CommandError) as fail:
        return npz.map_arrays(path, fail)


def _load(path: str) -> Mapping[str | None, Any]:
    """The arrays of an ``.npz`` or ``.npy`` file behind a protocol, read as a whole."""
    system, inner = file_system(path)
    try:
        found = np.load(io.BytesIO(system.cat_file(inner)), allow_pickle=False)
        return {None: found} if isinstance(found, np.ndarray) else dict(found)
    except (OSError, ValueError) as error:
        raise CommandError(f"cannot read {path}: {error}") from None


def _open_parquet(path: str) -> Mapping[str | None, Any]:
    parquet = _library("pyarrow.parquet", "pyarrow", path)
    arrow = import_module("pyarrow")
    try:
        if is_remote(path):
            system, inner = file_system(path)
            with system.open(inner) as stream:
                table = parquet.read_table(stream)
        else:
            table = parquet.read_table(path, memory_map=True)
    except (OSError, arrow.ArrowInvalid) as error:
        raise CommandError(f"cannot read {path}: {str(error).splitlines()[0]}") from None
    return {name: _column(table.column(name), name, path) for name in table.column_names}


def _column(column: Any, name: str, path: str) -> Array:
    """A column as an array; one of lists of one length as a matrix."""
    values = column.to_numpy()
    if values.dtype != object:
        return np.asarray(values)
    try:
        rows = [np.asarray(value) for value in values]
        matrix = np.stack(rows)
    except ValueError:
        matrix = np.empty(0, object)
    if matrix.dtype == object or matrix.dtype.kind not in "biufc":
        raise CommandError(f"{path}: column {name} holds {column.type}, and neither numbers nor lists of one length")
    return matrix


def _open_zarr(path: str) -> Mapping[str | None, Any]:
    return stores.open_store(_library("zarr", "zarr", path), path)


READERS: Final[Mapping[str, Reader]] = {
    ".npz": _open_npz,
    ".npy": _open_npz,
    ".parquet": _open_parquet,
    ".zarr": _open_zarr,
}
"""Ending -> what reads such a file."""


def _library(module: str, package: str, path: str) -> Any:
    try:
        return import_module(module)
    except ImportError:
        raise CommandError(f"{path} is read with {package}, which is not installed", f"pip install {package}") from None


def file_system(path: str) -> tuple[Any, str]:
    """The file system of a path with a protocol, and the path in it."""
    fsspec = _library("fsspec", "fsspec", path)
    try:
        system, inner = fsspec.core.url_to_fs(path)
    except (ImportError, ValueError) as error:
        raise CommandError(f"{path}: {error}") from None
    return system, inner
