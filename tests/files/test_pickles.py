"""Pickles are read as data: whatever names something, or announces more than there is, ends the reading."""

from __future__ import annotations

import collections
import contextlib
import datetime
import decimal
import functools
import io
import os
import pickle
import random
import struct
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gradtool.engine.core.errors import FileFormatError
from gradtool.engine.files import pickles

PLAIN: dict[str, Any] = {
    "numbers": [0, 1, -1, 255, 70000, -(2**40), 2**200, 0.5, float("inf"), True, False, None],
    "texts": ["", "a", "ä€𝄞", "x" * 300, b"", b"\x00\xff", b"y" * 300],
    "containers": [[], (), (1,), (1, 2), (1, 2, 3), (1, 2, 3, 4), {}, {1: {2: 3}}, {1, 2}, frozenset({3})],
    "ordered": collections.OrderedDict([("b", 1), ("a", [collections.OrderedDict()])]),
    "arrays": {str(d): np.arange(6).reshape(2, 3).astype(d) for d in ("f2", "f4", "f8", "i1", "i8", "u2", "?", "c8")},
    "array orders": [
        np.asfortranarray(np.ones((2, 3))),
        np.ones((0, 4)),
        np.float32(3).reshape(()),
        np.ones((2, 4))[:, ::2],
    ],
    "big endian": np.arange(4, dtype=">f4"),
    "array scalars": [np.float32(1.5), np.int64(3), np.bool_(True), np.complex64(1j)],
}


class Harmful:
    """Something that would run when it is read."""

    def __init__(self, function: Any, *args: Any) -> None:
        self._call = (function, args)

    def __reduce__(self) -> Any:
        return self._call


def read(data: bytes) -> Any:
    return pickles.read(io.BytesIO(data), "file")


def same(a: Any, b: Any) -> bool:
    if isinstance(a, np.ndarray):
        return isinstance(b, np.ndarray) and a.dtype == b.dtype.newbyteorder("=") and np.array_equal(a, b)
    if isinstance(a, dict):
        return type(a) is type(b) and list(a) == list(b) and all(same(a[k], b[k]) for k in a)
    if isinstance(a, (list, tuple)):
        return type(a) is type(b) and len(a) == len(b) and all(map(same, a, b))
    return type(a) is type(b) and bool(a == b)


@pytest.mark.parametrize("protocol", [2, 3, 4])
@pytest.mark.parametrize("kind", PLAIN)
def test_plain_data_is_read(kind: str, protocol: int) -> None:
    assert same(read(pickle.dumps(PLAIN[kind], protocol)), PLAIN[kind])


def test_what_stands_there_twice_is_one_object() -> None:
    array = np.ones(3)
    first, second, both = read(pickle.dumps([array, array, [array, {"a": array}]], 4))
    assert first is second is both[0] is both[1]["a"]
    first[0] = 5  # it can be written to


@pytest.mark.parametrize(
    ("value", "named"),
    [
        (Harmful(os.system, "touch made"), "posix.system"),
        (Harmful(os.mkdir, "made"), "posix.mkdir"),
        (Harmful(eval, "open('made', 'w')"), r"(__builtin__|builtins)\.eval"),
        (Harmful(getattr, "a", "b"), r"(__builtin__|builtins)\.getattr"),
        (Harmful(functools.partial, print), "functools.partial"),
        (Harmful(np.fromfile, "made"), r"numpy\.(core\.|_core\.)?\w*\.?fromfile"),
        (Path("a"), "pathlib"),
        (datetime.date(2020, 1, 1), "datetime.date"),
        (decimal.Decimal(1), "decimal.Decimal"),
        (collections.defaultdict(list), "collections.defaultdict"),
        (random.Random, "random.Random"),
        (np.random.default_rng(0), "numpy.random"),
        (slice(1), r"(__builtin__|builtins)\.slice"),
        (range(3), r"(__builtin__|builtins)\.(xrange|range)"),
    ],
)
@pytest.mark.parametrize("protocol", [2, 4])
def test_a_name_ends_the_reading(
    value: Any, named: str, protocol: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(FileFormatError, match=f"it names '{named}"):
        read(pickle.dumps({"a": np.ones(2), "w": value}, protocol))
    assert list(tmp_path.iterdir()) == []


def programs() -> dict[str, bytes]:
    """Pickles that Python's own reader would do something with, or fail at in its own way."""
    head = b"\x80\x04"
    text = lambda t: b"\x8c" + bytes([len(t)]) + t.encode()  # noqa: E731
    name = lambda module, what: text(module) + text(what) + b"\x93"  # noqa: E731
    encode, dtype = name("_codecs", "encode"), name("numpy", "dtype")
    return {
        "nothing": head,
        "no end": head + b"]",
        "a stack that is empty": head + b".",
        "an instance by its class": head + b"(" + text("a") + b"ios\nsystem\n.",
        "an old instance": head + b"(" + encode + b"o.",
        "a new object": head + name("builtins", "tuple") + b")\x81.",
        "by persistent id": head + text("x") + b"Q.",
        "an extension": head + b"\x82\x01.",
        "a text that is evaluated": head + b"S'a'\n.",
        "a buffer elsewhere": b"\x80\x05\x97.",
        "a bytearray": b"\x80\x05\x96" + struct.pack("<Q", 1 << 60) + b".",
        "more bytes than there are": head + b"\x8e" + struct.pack("<Q", 1 << 60) + b".",
        "a longer text than there is": head + b"\x8d" + struct.pack("<Q", 1 << 60) + b".",
        "a longer frame than there is": head + b"\x95" + struct.pack("<Q", 1 << 60) + b".",
        "a longer number than there is": head + b"\x8b" + struct.pack("<i", 1 << 30) + b".",
        "a negative length": head + b"\x8b" + struct.pack("<i", -5) + b".",
        "state for a name": head + encode + b"}" + text("_function") + b"K\x01sb.",
        "attributes for a name": head + encode + b"N}" + text("_function") + b"K\x01s\x86b.",
        "state for a list": head + b"]}" + text("append") + b"K\x01sb.",
        "state for an OrderedDict": head + name("collections", "OrderedDict") + b")R}" + text("items") + b"K\x01sb.",
        "entries for a name": head + encode + b"K\x01a.",
        "a name as the value": head + encode + b".",
        "half an array": head + name("numpy.core.multiarray", "_reconstruct") + b")R.",
        "a type as the value": head + dtype + text("f4") + b"\x85R.",
        "elements that are objects": head + dtype + text("O8") + b"\x85R.",
        "elements of no type": head + dtype + text("f3") + b"\x85R.",
        "another encoding": head + encode + text("a") + text("rot13") + b"\x86R.",
        "many zeros": head + name("builtins", "bytes") + b"J" + struct.pack("<i", 1 << 30) + b"\x85R.",
        "a large reconstruction": head
        + name("numpy.core.multiarray", "_reconstruct")
        + name("numpy", "ndarray")
        + b"J" + struct.pack("<i", 1 << 30) + b"\x85C\x01b\x87R.",
        "a memo that is not there": head + b"h\x05.",
        "a list in itself": head + b"]\x94h\x00a.",
        "a tuple in itself": head + b"]\x94(h\x00tah\x00.",
        "nested too deeply": head + b"]" * 5000 + b"a" * 4999 + b".",
    }  # fmt: skip


@pytest.mark.parametrize("kind", programs())
def test_other_programs_are_refused(kind: str) -> None:
    data = programs()[kind]
    tracemalloc.start()
    try:
        with pytest.raises(FileFormatError) as error:
            read(data)
        assert tracemalloc.get_traced_memory()[1] < 2_000_000
    finally:
        tracemalloc.stop()
    assert str(error.value).startswith("file: expected NumPy arrays, numbers, texts and plain containers")
    assert read(pickle.dumps({"a": np.ones(2)}, 4))["a"].shape == (2,), "what was refused has changed nothing"


def test_shared_containers_cost_their_number() -> None:
    """Each list holds the one before twice: 2 to the power of 50 entries, if they were told apart."""
    value: Any = [1]
    for _ in range(50):
        value = [value, value]
    restored = read(pickle.dumps(value, 4))
    assert restored[0] is restored[1]


def test_arrays_are_checked_against_their_bytes() -> None:
    whole = pickle.dumps(np.arange(4, dtype="f4"), 2)
    assert read(whole).shape == (4,)
    for shape in (b"K\x05\x85", b"K\x03\x85", b"J\xff\xff\xff\xff\x85"):
        with pytest.raises(FileFormatError):
            read(whole.replace(b"K\x04\x85", shape))


def test_changed_bytes_end_in_one_kind_of_error() -> None:
    generator = random.Random(1)
    state = {"a": np.ones((3, 2), "f4"), "b": [1, ("x", np.arange(3))], "c": collections.OrderedDict(z=2.5)}
    for protocol in (2, 4):
        whole = pickle.dumps(state, protocol)
        for _ in range(1500):
            data = bytearray(whole)
            for _ in range(generator.choice((1, 1, 2, 5))):
                data[generator.randrange(len(data))] = generator.randrange(256)
            with contextlib.suppress(FileFormatError):  # nothing else passes
                read(bytes(data[: generator.choice((len(data), generator.randrange(len(data)))) or 1]))
