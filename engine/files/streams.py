"""Tensors as Paddle's own kernels write them: ``.pdiparams``, ``save_params`` and ``use_binary_format``.

A tensor is a version (four bytes, 0), the levels of its offsets (eight bytes: how many; of each its bytes and these),
again a version, the length of a description (data type and shape, a protobuf message) with that description, and the
elements. A combined file is one tensor after the other without names: they belong to the variables of a program, in
the order of the names. Sizes are checked against what is left of the file before anything is allocated.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, NoReturn

import numpy as np

from ..core.errors import FileFormatError
from ..core.spec import DTYPES, DType, dtype
from . import messages
from .container import Array

EXPECTED: Final = "tensors as Paddle writes them"
START: Final = bytes(4)
"""How each tensor begins: the version."""

LOOKED_AT: Final = 16
"""Bytes of a file that tell whether it holds such tensors."""

_CODES: Final = {d.code: d for d in DTYPES}
_MOST_DIMENSIONS: Final = 32
_LONGEST: Final = 4096
"""Bytes of a description."""


def read(data: bytes, file: str) -> list[Array]:
    """The tensors that *data* holds, in order.

    Raises:
        FileFormatError: it holds something else, or is cut short.
        UnsupportedError: the package protobuf is not installed.
    """
    return list(_StreamReader(data, file).tensors())


def name_tensors(data: bytes, names: Iterable[str], file: str) -> dict[str, Array]:
    """The tensors of a combined file by the names of the variables, which are *names*.

    Raises:
        FileFormatError: as for :func:`read`, or there are more or fewer tensors than names.
    """
    ordered = sorted(names)
    arrays = read(data, file)
    if len(arrays) != len(ordered):
        raise FileFormatError(
            file, f"the values of {len(ordered)} variables", f"it holds {len(arrays)} tensors, and no names of them"
        )
    return dict(zip(ordered, arrays, strict=True))


def is_stream(start: bytes) -> bool:
    """Return whether a file that begins so (16 bytes and more) holds such tensors, as far as one can tell.

    Eight zeros are no container's length. Tensors with offsets, which few files have, begin with four of them.
    """
    if start[:12] == bytes(12):
        return len(start) >= 16 and start[12:16] == START
    return start[:4] == START and 0 < int.from_bytes(start[4:12], "little") <= 8 and len(start) >= 16


class _StreamReader:
    def __init__(self, data: bytes, file: str) -> None:
        self.data = memoryview(data)
        self.file = file
        self.at = 0

    def fail(self, came: str) -> NoReturn:
        raise FileFormatError(self.file, EXPECTED, came)

    def take(self, size: int, what: str) -> memoryview:
        left = len(self.data) - self.at
        if not 0 <= size <= left:
            self.fail(f"at byte {self.at} {what} has {size} bytes, and {left} are left")
        self.at += size
        return self.data[self.at - size : self.at]

    def number(self, size: int, what: str) -> int:
        return int.from_bytes(self.take(size, what), "little")

    def tensors(self) -> Iterator[Array]:
        while self.at < len(self.data):
            yield self.tensor()

    def tensor(self) -> Array:
        begin = self.at
        self.version(begin)
        levels = self.number(8, "the number of levels of offsets")
        if levels > 8:
            self.fail(f"the tensor at byte {begin} has {levels} levels of offsets")
        for _ in range(levels):
            self.take(self.number(8, "the size of a level of offsets"), "a level of offsets")
        self.version(begin)
        size = self.number(4, "the size of a tensor's description")
        if size > _LONGEST:
            self.fail(f"the description of the tensor at byte {begin} has {size} bytes")
        described = messages.parse("Tensor", bytes(self.take(size, "a tensor's description")), self.file, EXPECTED)
        dims = list(described.dims)
        kind = _CODES.get(described.data_type)
        if kind is None:
            self.fail(f"the tensor at byte {begin} is of type {described.data_type}, which gradtool has not")
        if len(dims) > _MOST_DIMENSIONS or any(d < 0 for d in dims):
            self.fail(f"the tensor at byte {begin} has the shape {dims[:_MOST_DIMENSIONS]}")
        elements = extent = 1
        for d in dims:
            elements *= d
            extent *= max(d, 1)
        if extent > 2**58:  # also of a tensor without elements
            self.fail(f"the tensor at byte {begin} has the shape {dims}")
        return self.elements(kind, elements, dims)

    def version(self, begin: int) -> None:
        version = self.number(4, "a version")
        if version != 0:
            self.fail(f"the tensor at byte {begin} is of version {version}, and only version 0 is known")

    def elements(self, kind: DType, count: int, dims: list[int]) -> Array:
        content = self.take(count * kind.size, "the elements of a tensor")
        if kind.name == "bool":
            bits = np.frombuffer(content, np.uint8)
            if bits.size and bits.max() > 1:
                self.fail("a tensor of truth values holds other numbers than 0 and 1")
        array = np.frombuffer(content, np.uint8).reshape(-1, _part(kind))[:, ::_STEP].copy()
        return array.reshape(-1).view(kind.numpy).reshape(dims)


def pieces(arrays: Mapping[str, Array]) -> Iterator[Any]:
    """The bytes of a combined file of *arrays*: in the order of their names, which it does not hold."""
    for name in sorted(arrays):
        yield from tensor(arrays[name])


def tensor(array: Array) -> Iterator[Any]:
    """The bytes of one tensor."""
    kind = dtype(array.dtype)
    described = messages.message("Tensor")
    described.data_type = kind.code
    described.dims.extend(array.shape)
    text = described.SerializeToString()
    yield bytes(4) + bytes(8) + bytes(4) + len(text).to_bytes(4, "little") + text
    parts = np.ascontiguousarray(array).reshape(-1).view(np.uint8).reshape(-1, _part(kind))
    yield parts[:, ::_STEP].tobytes()


_STEP: Final = 1 if sys.byteorder == "little" else -1


def _part(kind: DType) -> int:
    """Return the number of bytes of one number: half an element where elements have a real and an imaginary part."""
    return kind.size // 2 if kind.is_complex else kind.size
