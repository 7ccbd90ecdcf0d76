"""Arrays of numbers in files of MATLAB's version 5, which the labels of Flowers are kept in."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from typing import Any

import numpy as np

from gradtool.engine.core.errors import FileFormatError

EXPECTED = "a file of MATLAB's version 5 with arrays of numbers"
HEADER = 128
MATRIX, COMPRESSED = 14, 15
TYPES = {1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 9: "f8", 12: "i8", 13: "u8"}


def arrays(path: str) -> dict[str, Any]:
    """The arrays by their names.

    Raises:
        FileFormatError: another kind of file, or a damaged one (a ValueError).
    """
    with open(path, "rb") as file:
        data = file.read()
    if len(data) < HEADER or data[126:128] not in (b"IM", b"MI"):
        raise FileFormatError(path, EXPECTED, "it does not begin like one")
    order = "<" if data[126:128] == b"IM" else ">"
    try:
        return dict(_matrices(data[HEADER:], order))
    except (struct.error, zlib.error, ValueError, KeyError, StopIteration, UnicodeDecodeError) as error:
        raise FileFormatError(path, EXPECTED, f"it is damaged, or holds something else: {error}") from None


def _elements(data: bytes, order: str) -> Iterator[tuple[int, bytes]]:
    """Type and bytes of each element."""
    at = 0
    while at + 8 <= len(data):
        kind, size = struct.unpack_from(f"{order}II", data, at)
        if kind >> 16:  # four bytes at most stand beside their type
            yield kind & 0xFFFF, data[at + 4 : at + 4 + (kind >> 16)]
            at += 8
            continue
        yield kind, data[at + 8 : at + 8 + size]
        at += 8 + size + (0 if kind == COMPRESSED else -size % 8)


def _matrices(data: bytes, order: str) -> Iterator[tuple[str, Any]]:
    for kind, content in _elements(data, order):
        if kind == COMPRESSED:
            yield from _matrices(zlib.decompress(content), order)
        elif kind == MATRIX:
            parts = _elements(content, order)
            next(parts)  # flags
            shape = np.frombuffer(next(parts)[1], f"{order}i4")
            name = next(parts)[1].decode("ascii")
            code, numbers = next(parts)
            yield name, np.frombuffer(numbers, f"{order}{TYPES[code]}").reshape(shape, order="F")
