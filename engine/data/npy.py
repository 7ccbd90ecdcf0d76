"""One array in NumPy's file format (``.npy``), read by its header: nothing in it is evaluated, nothing is unpickled.

What the header declares is checked against the bytes that follow, and against a limit, before an array is made.
"""

from __future__ import annotations

import math
import re
from typing import Any, Literal, NamedTuple, Protocol

import numpy as np

from ..files.jsontext import shorten_value
from ..files.zip_members import Fail

Array = np.ndarray[Any, np.dtype[Any]]

MAGIC = b"\x93NUMPY"
_LONGEST_HEADER = 10_000
_MOST_DIMENSIONS = 32
_MOST_ELEMENTS = 2**58
_AT_ONCE = 1 << 24
_WIDTHS = {"b": (1,), "i": (1, 2, 4, 8), "u": (1, 2, 4, 8), "f": (2, 4, 8), "c": (8, 16)}
"""Bytes of the numbers that a file may hold, by the letter of their kind."""

# The header is a Python dict, its entries in any order: {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }
_ENTRY = re.compile(
    r"""\s*(?P<quote>['"])(?P<key>descr|fortran_order|shape)(?P=quote)\s*:\s*"""
    r"""(?:(?P<fields>\[)|(?:(?P<order>True|False)|(?P<mark>['"])(?P<type>[^'"\\]{1,40})(?P=mark)|"""
    r"""\((?P<shape>[\d\s,L]*)\))\s*(?P<end>,\s*\}?|\}))"""
)
_KINDS = {"descr": "type", "fortran_order": "order", "shape": "shape"}
_BLANK = r"\s{0,20}"
_LENGTH = rf"{_BLANK}\d{{1,20}}L?{_BLANK}"
_SHAPE = re.compile(rf"(?:{_LENGTH}(?:,{_LENGTH})*,?)?{_BLANK}")


class ByteStream(Protocol):
    """Bytes in order; ``read`` gives fewer than asked for at their end only."""

    def read(self, count: int, /) -> bytes: ...


class Header(NamedTuple):
    """Header before an array's bytes.

    Attributes:
        dtype: the type of its elements, in the byte order of the file.
        by_columns: whether the first dimension runs fastest.
        length: bytes of the header itself.
    """

    dtype: np.dtype[Any]
    by_columns: bool
    shape: tuple[int, ...]
    length: int

    @property
    def nbytes(self) -> int:
        """Bytes of the elements."""
        return math.prod(self.shape) * self.dtype.itemsize


def header(stream: ByteStream, fail: Fail) -> Header:
    """The header at the beginning of *stream*."""
    start = stream.read(8)
    if start[:6] != MAGIC:
        fail(f"it begins with {shorten_value(start)}, which no array does")
    if start[6:] not in (b"\1\0", b"\2\0", b"\3\0"):
        fail(f"it is of the unknown version {'.'.join(map(str, start[6:]))} of the format")
    width = 2 if start[6] == 1 else 4
    count = stream.read(width)
    length = int.from_bytes(count, "little")
    if length > _LONGEST_HEADER:
        fail(f"its header has {length} bytes: {_LONGEST_HEADER} are read at most")
    data = stream.read(length)
    if len(count) < width or len(data) < length:
        fail("it is cut short within its header")
    try:
        text = data.decode("utf-8" if start[6] == 3 else "latin-1")
    except UnicodeDecodeError as error:
        fail(f"byte {error.start} of its header is not UTF-8")
    entries = _entries(text, fail)
    return Header(
        _type(entries["descr"], fail),
        entries["fortran_order"] == "True",
        _shape(entries["shape"], fail),
        8 + width + length,
    )


def _entries(text: str, fail: Fail) -> dict[str, str]:
    """The three entries of the dict."""
    entries: dict[str, str] = {}
    at = text.find("{") + 1
    closed = not text[: max(at - 1, 0)].strip() and at > 0
    ended = False
    while closed and not ended:
        entry = _ENTRY.match(text, at)
        if entry is None or entry["key"] in entries:
            break
        if entry["fields"] is not None:
            fail("its elements have fields: plain numbers are expected")
        value = entry[_KINDS[entry["key"]]]
        if value is None:
            break
        entries[entry["key"]] = value
        at = entry.end()
        ended = "}" in entry["end"]
    if not ended or entries.keys() != _KINDS.keys() or text[at:].strip():
        fail(f"its header is not one of an array: {shorten_value(text)}")
    return entries


def _type(code: str, fail: Fail) -> np.dtype[Any]:
    order, kind, width = code[:1], code[1:2], code[2:]
    if order == "O" or kind == "O":
        fail("it holds Python objects, as a pickle, and loading one would run the code in it")
    if order not in "<>=|" or kind not in _WIDTHS or width not in map(str, _WIDTHS[kind]):
        fail(f"its elements are {shorten_value(code)}: whole, real or complex numbers or truth values are expected")
    return np.dtype(code)


def _shape(text: str, fail: Fail) -> tuple[int, ...]:
    if _SHAPE.fullmatch(text) is None:
        fail(f"its shape is ({text})")
    shape = tuple(int(word) for word in re.findall(r"\d+", text))
    if len(shape) > _MOST_DIMENSIONS or math.prod(max(n, 1) for n in shape) > _MOST_ELEMENTS:
        fail(f"its shape is {shorten_value(shape)}: no array is that large")
    return shape


def map_array(path: str, head: Header, place: int) -> Array:
    """The array whose bytes begin at *place* of a file, read when they are looked at, in the byte order of the file."""
    if not head.nbytes:
        return np.empty(head.shape, head.dtype)
    order: Literal["C", "F"] = "F" if head.by_columns else "C"
    return np.memmap(path, head.dtype, "r", place, head.shape, order)


def elements(stream: ByteStream, head: Header, fail: Fail) -> Array:
    """The array whose bytes follow, in the machine's byte order."""
    try:
        flat: Array = np.empty(math.prod(head.shape), head.dtype)
    except MemoryError:
        fail(f"it holds {head.nbytes} bytes, and there is not that much memory")
    room = flat.view(np.uint8)
    at = 0
    while at < room.size:
        part = stream.read(min(room.size - at, _AT_ONCE))
        if not part:
            fail(f"it is cut short: {room.size} bytes are declared, and {at} are there")
        room[at : at + len(part)] = np.frombuffer(part, np.uint8)
        at += len(part)
    if head.dtype == np.bool_ and room.size and room.max() > 1:
        fail(f"it holds truth values, and one of them is {room.max()}")
    native = flat if flat.dtype.isnative else flat.astype(flat.dtype.newbyteorder("="))
    return native.reshape(head.shape[::-1]).T if head.by_columns else native.reshape(head.shape)
