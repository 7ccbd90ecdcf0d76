"""Calls and their outcomes between processes: nested lists, numbers, texts and arrays, as pickles of plain Python.

Arrays travel as type, shape and bytes, so that both ends may have any NumPy.
"""

from __future__ import annotations

import pickle
import struct
from dataclasses import dataclass
from typing import Any, BinaryIO

import numpy as np


@dataclass(frozen=True)
class Array:
    """A tensor among the arguments: its values, and whether it is differentiated."""

    value: Any
    grad: bool = False


@dataclass(frozen=True)
class Dtype:
    """An element type among the arguments."""

    name: str


@dataclass(frozen=True)
class Foreign:
    """What has no meaning in the other library: a device, a layout, a generator."""

    text: str


def packed(value: Any) -> Any:
    """*value* without classes."""
    if isinstance(value, Array):
        return ("A", packed(value.value), value.grad)
    if isinstance(value, np.ndarray):
        return ("N", value.dtype.str, value.shape, value.tobytes())
    if isinstance(value, Dtype):
        return ("D", value.name)
    if isinstance(value, Foreign):
        return ("F", value.text)
    if isinstance(value, slice):
        return ("S", packed(value.start), packed(value.stop), packed(value.step))
    if isinstance(value, list):
        return ("L", [packed(v) for v in value])
    if isinstance(value, tuple):
        return ("T", [packed(v) for v in value])
    if isinstance(value, dict):
        return ("M", [(k, packed(v)) for k, v in value.items()])
    return ("=", value)


def unpacked(text: Any) -> Any:
    """What was packed."""
    kind, *rest = text
    if kind == "A":
        return Array(unpacked(rest[0]), rest[1])
    if kind == "N":
        return np.frombuffer(rest[2], rest[0]).reshape(rest[1]).copy()
    if kind == "D":
        return Dtype(rest[0])
    if kind == "F":
        return Foreign(rest[0])
    if kind == "S":
        return slice(*(unpacked(v) for v in rest))
    if kind in "LT":
        return (list if kind == "L" else tuple)(unpacked(v) for v in rest[0])
    if kind == "M":
        return {k: unpacked(v) for k, v in rest[0]}
    return rest[0]


PARTS = {"<c16": "<f8", "<c8": "<f4"}
"""Types of complex arrays, and of what they are made of."""


def written(value: Any) -> Any:
    """A packed value as JSON holds it: the bytes of arrays as texts of numbers."""
    if isinstance(value, (list, tuple)):
        if len(value) == 4 and value[0] == "N":
            numbers = np.frombuffer(value[3], value[1])
            numbers = numbers.view(PARTS[value[1]]) if value[1] in PARTS else numbers
            return [
                "N",
                value[1],
                list(value[2]),
                [float(f"{n:.12g}") if isinstance(n, float) else n for n in numbers.tolist()],
            ]
        return [written(v) for v in value]
    return [value.real, value.imag, "complex"] if isinstance(value, complex) else value


def read(text: Any) -> Any:
    """What was written, packed as before."""
    if isinstance(text, list):
        if len(text) == 4 and text[0] == "N":
            kind = PARTS.get(text[1], text[1])
            return ["N", text[1], tuple(text[2]), np.array(text[3], kind).tobytes()]
        if len(text) == 3 and text[2] == "complex":
            return complex(text[0], text[1])
        return [read(v) for v in text]
    return text


def send(stream: BinaryIO, value: Any) -> None:
    """Write one message."""
    data = pickle.dumps(packed(value), protocol=4)
    stream.write(struct.pack("<q", len(data)) + data)
    stream.flush()


def receive(stream: BinaryIO) -> Any:
    """Read one message; None where the other end is gone."""
    head = stream.read(8)
    if len(head) < 8:
        return None
    (size,) = struct.unpack("<q", head)
    data = stream.read(size)
    return unpacked(pickle.loads(data)) if len(data) == size else None
