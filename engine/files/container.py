"""The container of every binary file that gradtool writes: named arrays and short texts about them.

It is the safetensors format (https://huggingface.co/docs/safetensors): eight bytes with the length of a JSON header,
the header, which names every array with its data type, shape and place, then the raw little-endian data without
gaps. Reading one looks at numbers and text only: there is no code in it to run, nothing to decompress, and no name
becomes a path. Sizes are checked against the size of the file before anything is allocated.

Arrays come in order of falling element size, so that each is aligned. The format has no complex128: such an array is
stored as float64 with one more dimension, of real and imaginary part, and named in the text ``complex128``.
"""

from __future__ import annotations

import contextlib
import os
import re
import sys
from collections.abc import Iterator, Mapping
from typing import Any, BinaryIO, Final, NoReturn

import numpy as np

from ..core.errors import FileFormatError, FileMissing
from ..core.spec import DTYPES
from ..core.spec import dtype as dtype_of
from . import jsontext
from .jsontext import shorten_value

Array = np.ndarray[Any, np.dtype[Any]]

HEADER_LIMIT = 100_000_000
"""Bytes of header that are read at most, as in the format's other implementations."""
METADATA = "__metadata__"
PAIRS = "complex128"
"""The text that lists the arrays which hold real and imaginary parts."""
_LENGTH = 8
_MOST_DIMENSIONS = 32
_MOST_ELEMENTS = 2**58
_LETTERS = {"bool": "BOOL", "bfloat": "BF", "float": "F", "int": "I", "uint": "U", "complex": "C"}
_COMPLEX = np.dtype(np.complex128)
_UNSIGNED = ("uint16", "uint32", "uint64")
"""Types that NumPy arrays may have beside those of tensors."""


_TYPES: Final = {
    re.sub("[a-z]+", lambda word: _LETTERS[word.group()], name): name
    for name in (*(d.name for d in DTYPES), *_UNSIGNED)
    if name != _COMPLEX.name
}
"""Code in the header -> name of the type. NumPy's own types for them are looked up when an array has one."""
_CODES: Final = {name: code for code, name in _TYPES.items()}


def can_hold(array: Array) -> bool:
    """Return whether the container has a code for the array's type."""
    return array.dtype.name in _CODES or array.dtype == _COMPLEX


def _numpy(code: Any) -> np.dtype[Any] | None:
    """The NumPy type with that code; None if there is none."""
    name = _TYPES.get(code) if isinstance(code, str) else None
    if name is None:
        return None
    return np.dtype(name) if name in _UNSIGNED else dtype_of(name).numpy


def _native(dtype: np.dtype[Any]) -> np.dtype[Any]:
    return dtype if dtype.isnative else dtype.newbyteorder("=")


# -- writing ----------------------------------------------------------------------------------------------------------


def pieces(arrays: Mapping[str, Array], texts: Mapping[str, str]) -> Iterator[Any]:
    """The bytes of a container, piece by piece; the same for the same contents.

    Args:
        arrays: by name; their types are such that :func:`can_hold` is true.
        texts: what to say about them, by name.
    """
    native = {name: np.asarray(a, _native(a.dtype), order="C") for name, a in arrays.items()}
    pairs = [name for name, a in native.items() if a.dtype == _COMPLEX]
    for name in pairs:
        native[name] = native[name].reshape(-1).view(np.float64).reshape(*native[name].shape, 2)
    ordered = sorted(native.items(), key=lambda entry: -entry[1].itemsize)
    header: dict[str, Any] = {METADATA: {**texts, **({PAIRS: jsontext.write(pairs)} if pairs else {})}}
    end = 0
    for name, array in ordered:
        begin, end = end, end + array.nbytes
        header[name] = {
            "dtype": _CODES[array.dtype.name],
            "shape": list(array.shape),
            "data_offsets": [begin, end],
        }
    data = jsontext.write(header).encode("ascii")
    data += b" " * (-len(data) % 8)
    yield len(data).to_bytes(_LENGTH, "little")
    yield data
    for _, array in ordered:
        yield _little(array).reshape(-1).view(np.uint8).data


def _little(array: Array) -> Array:
    return array if sys.byteorder == "little" else array.byteswap()


# -- reading ----------------------------------------------------------------------------------------------------------


@contextlib.contextmanager
def open_file(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """A file, open for reading.

    Raises:
        FileMissing: there is no such file (a FileNotFoundError and a ValueError).
        FileFormatError: it is a folder or a device.
        OSError: it cannot be read.
    """
    name = os.fspath(path)
    if not os.path.exists(name):
        raise FileMissing(f"{name}: there is no such file.")
    if not os.path.isfile(name):
        raise FileFormatError(name, "a file", "it is a folder or a device")
    with open(name, "rb") as file:
        yield file


START = 9
"""Bytes that tell what a file is: the length of a container's header, and the header's first."""


def is_pickle(start: bytes) -> bool:
    """Return whether a file that begins so is a pickle of one of the protocols from 2 on (:mod:`.pickles`).

    The length of a container's header may begin as a pickle does: 640 is ``80 02``.
    """
    is_container = start[4:8] == b"\0\0\0\0" and start[8:START] == b"{"
    return start[:1] == b"\x80" and start[1:2] in (b"\x02", b"\x03", b"\x04", b"\x05") and not is_container


def read_path(path: str | os.PathLike[str]) -> tuple[dict[str, Array], dict[str, str]]:
    """Read the container at *path*: its arrays and its texts, by name.

    Raises:
        FileMissing: there is no such file (a FileNotFoundError and a ValueError).
        FileFormatError: it is no container, or a damaged one.
        OSError: it cannot be read.
    """
    with open_file(path) as file:
        return _ContainerReader(file, os.fspath(path), os.fstat(file.fileno()).st_size).contents()


def read_stream(file: BinaryIO, name: str | None = None) -> tuple[dict[str, Array], dict[str, str]]:
    """Read the container in *file*, an open binary file, from its position to its end.

    Args:
        name: what to call it in messages; its own name when None.

    Raises:
        FileFormatError: it is no container, or a damaged one.
    """
    start = file.tell()
    size = file.seek(0, os.SEEK_END) - start
    file.seek(start)
    return _ContainerReader(file, name or str(getattr(file, "name", type(file).__name__)), size).contents()


class _ContainerReader:
    """One container, read from beginning to end."""

    def __init__(self, file: BinaryIO, name: str, size: int) -> None:
        self.file = file
        self.name = name
        self.size = size

    def fail(self, expected: str, came: str, hint: str | None = None) -> NoReturn:
        raise FileFormatError(self.name, expected, came, hint=hint)

    def contents(self) -> tuple[dict[str, Array], dict[str, str]]:
        header, texts = self.header()
        # The format asks for data without gaps or overlaps: places follow one another, and the last one ends the file.
        places = sorted(((self.entry(name, entry), name) for name, entry in header.items()), key=lambda e: e[0][:2])
        at = 0
        for (begin, end, _, _), name in places:
            if begin != at:
                self.fail(f"array {shorten_value(name)} to begin at byte {at} of the data", f"it begins at {begin}")
            at = end
        if at != self.left:
            self.fail(f"{at} bytes of data", f"there are {self.left}", "the file is cut short or was changed")
        read = {name: self.array(name, dtype, shape) for (_, _, dtype, shape), name in places}
        pairs = jsontext.read(texts.pop(PAIRS, "[]"), f"{self.name} ({PAIRS})")
        if not isinstance(pairs, list) or not all(isinstance(name, str) and name in read for name in pairs):
            self.fail(f"{PAIRS} to list arrays", f"it is {shorten_value(pairs)}")
        for name in pairs:
            array = read[name]
            if array.dtype != np.float64 or array.shape[-1:] != (2,):
                self.fail(
                    f"array {shorten_value(name)} to hold real and imaginary parts", f"it is {array.dtype}{array.shape}"
                )
            read[name] = array.reshape(-1).view(_COMPLEX).reshape(array.shape[:-1])
        return {name: read[name] for name in header}, texts

    def header(self) -> tuple[dict[str, Any], dict[str, str]]:
        start = self.file.read(_LENGTH)
        length = int.from_bytes(start, "little")
        self.left = self.size - _LENGTH - length
        if len(start) < _LENGTH or length < 2 or self.left < 0 or length > HEADER_LIMIT:
            self.foreign(start, length)
        data = self.file.read(length)
        if len(data) < length or data[:1] != b"{":
            self.foreign(start, length)
        content = jsontext.read(data, f"{self.name} (header)")
        texts = content.pop(METADATA, {})
        if not isinstance(texts, dict) or not all(isinstance(t, str) for t in texts.values()):
            self.fail(f"{METADATA} to hold texts by name", f"it is {shorten_value(texts)}")
        return content, texts

    def foreign(self, start: bytes, length: int) -> NoReturn:
        """Say what a file is that does not begin as a container does."""
        container = "a file of tensors (safetensors)"
        if is_pickle(start):
            self.fail(
                container,
                "it is a pickle; of those, only plain data is read, as paddle.save writes it",
                "paddle.load reads it",
            )
        for magic, what in _OTHERS:
            if start.startswith(magic):
                self.fail(container, f"it is {what}", "save the values with gradtool, or as safetensors")
        if len(start) < _LENGTH:
            self.fail(container, f"it has {len(start)} bytes, too few for one")
        self.fail(container, f"its first 8 bytes announce a header of {length} bytes, and the file has {self.size}")

    def entry(self, name: str, entry: Any) -> tuple[int, int, np.dtype[Any], tuple[int, ...]]:
        """Begin, end, type and shape of an array, checked against each other and against the size of the file."""
        if not isinstance(entry, dict) or entry.keys() != {"dtype", "shape", "data_offsets"}:
            self.fail(
                f"dtype, shape and data_offsets of array {shorten_value(name)}", f"there is {shorten_value(entry)}"
            )
        code, shape, place = entry["dtype"], entry["shape"], entry["data_offsets"]
        dtype = _numpy(code)
        if dtype is None:
            self.fail(
                f"array {shorten_value(name)} to have one of the types {', '.join(_TYPES)}",
                f"it has {shorten_value(code)}",
            )
        if not _whole_numbers(shape) or len(shape) > _MOST_DIMENSIONS or max(shape, default=0) > _MOST_ELEMENTS:
            self.fail(f"array {shorten_value(name)} to have a shape", f"it is {shorten_value(shape)}")
        if not _whole_numbers(place) or len(place) != 2 or not place[0] <= place[1] <= self.left:
            self.fail(
                f"array {shorten_value(name)} within {self.left} bytes of data", f"its place is {shorten_value(place)}"
            )
        elements = extent = 1
        for n in shape:
            elements *= n
            extent *= max(n, 1)
        if extent > _MOST_ELEMENTS or elements * dtype.itemsize != place[1] - place[0]:
            self.fail(
                f"array {shorten_value(name)} to fill {place[1] - place[0]} bytes",
                f"it is {code} of shape {shorten_value(shape)}",
            )
        return place[0], place[1], dtype, tuple(shape)

    def array(self, name: str, dtype: np.dtype[Any], shape: tuple[int, ...]) -> Array:
        array: Array = np.empty(shape, dtype)
        data = array.reshape(-1).view(np.uint8)
        at = 0
        while at < data.size:
            part = self.file.read(min(data.size - at, _AT_ONCE))
            if not part:
                self.fail(f"{data.size} bytes of array {shorten_value(name)}", f"the file ended after {at}")
            data[at : at + len(part)] = np.frombuffer(part, np.uint8)
            at += len(part)
        if dtype == np.bool_ and data.size and data.max() > 1:
            self.fail(f"array {shorten_value(name)} to hold 0 and 1, as bools are", f"there is a {data.max()}")
        return _little(array)


_AT_ONCE = 1 << 24
_OTHERS = (
    (b"PK\x03\x04", "a zip archive (as .npz and PyTorch's .pt files are)"),
    (b"\x93NUMPY", "a NumPy array (.npy)"),
    (b"\x89HDF", "an HDF5 file"),
    (b"\x00\x00\x00\x00\x00\x00\x00\x00", "a binary file of real Paddle's, or zeros"),
)
"""How other formats of arrays begin."""


def _whole_numbers(value: Any) -> bool:
    return isinstance(value, list) and all(type(n) is int and n >= 0 for n in value)
