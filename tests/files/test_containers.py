"""The container of binary files: what goes in comes out, and what is wrong is one error that says so."""

from __future__ import annotations

import contextlib
import io
import json
import os
import pickle
import tracemalloc
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays_of

from gradtool.engine.core.errors import FileFormatError, FileMissing
from gradtool.engine.core.spec import DTYPES
from gradtool.engine.files import container

TYPES = [d.numpy for d in DTYPES if d.numpy is not None]


def packed(arrays: dict[str, Any], **texts: str) -> bytes:
    return b"".join(container.pieces({n: np.asarray(a) for n, a in arrays.items()}, texts))


def unpacked(data: bytes) -> tuple[dict[str, container.Array], dict[str, str]]:
    return container.read_stream(io.BytesIO(data), "file")


def with_header(change: Callable[[dict[str, Any]], Any], data: bytes | None = None, tail: bytes = b"") -> bytes:
    """The bytes of a small container whose header was changed."""
    data = packed({"a": np.arange(6, dtype=np.float32), "b": np.zeros(2, bool)}) if data is None else data
    length = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + length])
    text = change(header)
    written = (text if isinstance(text, str) else json.dumps(header)).encode("utf-8", "surrogatepass")
    return len(written).to_bytes(8, "little") + written + data[8 + length :] + tail


# -- what goes in comes out -------------------------------------------------------------------------------------------


@given(
    st.dictionaries(
        st.text(max_size=8),
        st.sampled_from([t for t in TYPES if t.kind in "biufc"]).flatmap(
            lambda dtype: arrays_of.arrays(dtype, arrays_of.array_shapes(min_dims=0, max_dims=4, min_side=0))
        ),
        max_size=4,
    )
)
def test_arrays_come_back_bit_for_bit(arrays: dict[str, container.Array]) -> None:
    copies, texts = unpacked(packed(arrays, about="x"))
    assert texts == {"about": "x"}
    assert sorted(copies) == sorted(arrays)
    for name, array in arrays.items():
        assert (copies[name].dtype, copies[name].shape) == (array.dtype, array.shape)
        assert copies[name].tobytes() == array.tobytes()


@pytest.mark.parametrize("dtype", [*TYPES, *map(np.dtype, ("uint16", "uint32", "uint64"))], ids=str)
def test_every_type_is_kept(dtype: np.dtype[Any]) -> None:
    array = np.arange(4).reshape(2, 2).astype(dtype)
    copy = unpacked(packed({"a": array}))[0]["a"]
    assert copy.dtype == dtype
    np.testing.assert_array_equal(copy, array)


@pytest.mark.parametrize(
    "array",
    [np.arange(12.0).reshape(3, 4).T, np.arange(12)[::-2], np.arange(3, dtype=">i4"), np.ones((0, 2**40), np.int8)],
    ids=["transposed", "strided", "big-endian", "empty"],
)
def test_any_layout_is_stored_plainly(array: container.Array) -> None:
    copy = unpacked(packed({"a": array}))[0]["a"]
    assert copy.shape == array.shape
    assert copy.dtype.isnative
    np.testing.assert_array_equal(copy, array)


def test_equal_contents_give_equal_bytes_and_arrays_are_aligned() -> None:
    arrays = {"a": np.zeros(3, bool), "b": np.zeros(3, np.float16), "c": np.zeros(1, np.complex128), "d": np.zeros(1)}
    data = packed(arrays)
    assert data == packed(arrays)
    length = int.from_bytes(data[:8], "little")
    assert length % 8 == 0
    for name, entry in json.loads(data[8 : 8 + length]).items():
        if name != "__metadata__":
            assert (8 + length + entry["data_offsets"][0]) % min(arrays[name].itemsize, 8) == 0


def test_the_layout_is_that_of_safetensors() -> None:
    header = b'{"__metadata__":{"k":"v"},"w":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}'
    header += b" " * (-len(header) % 8)
    assert packed({"w": np.array([1, 2], np.float32)}, k="v") == (
        len(header).to_bytes(8, "little") + header + b"\x00\x00\x80\x3f\x00\x00\x00\x40"
    )


def test_a_file_made_elsewhere_may_be_in_any_order_and_padded() -> None:
    header = (
        b'{"b":{"dtype":"U8","shape":[1],"data_offsets":[4,5]},'
        b'"a":{"data_offsets":[0,4],"shape":[],"dtype":"I32"}}      '
    )
    arrays, texts = unpacked(len(header).to_bytes(8, "little") + header + b"\x07\x00\x00\x00\x09")
    assert {n: a.tolist() for n, a in arrays.items()} == {"a": 7, "b": [9]}
    assert texts == {}


def test_a_stream_is_read_from_where_it_stands() -> None:
    file = io.BytesIO(b"before" + packed({"a": [1]}))
    file.seek(6)
    assert container.read_stream(file)[0]["a"].tolist() == [1]


# -- what is wrong ----------------------------------------------------------------------------------------------------


def entry(**changes: Any) -> Callable[[dict[str, Any]], None]:
    return lambda header: header["a"].update(changes)


HOSTILE = {
    "empty": (b"", "too few"),
    "short": (b"\x01\x02", "too few"),
    "text": (b"just some text, nothing else", "announce a header"),
    "zeros": (bytes(64), "a binary file of real Paddle's, or zeros"),
    "numpy": (b"\x93NUMPY\x01\x00 and more", "NumPy array"),
    "hdf5": (b"\x89HDF\r\n\x1a\n and more", "HDF5"),
    "header past the end": ((1 << 62).to_bytes(8, "little") + b"{}", "announce a header"),
    "header above the limit": ((200_000_000).to_bytes(8, "little") + b"{}", "announce a header"),
    "header is no object": (with_header(lambda h: "[]"), "announce a header"),
    "header is no JSON": (with_header(lambda h: "{'a': 1}"), "JSON"),
    "header is not UTF-8": ((4).to_bytes(8, "little") + b'{"\xff}', "UTF-8"),
    "header holds NaN": (with_header(lambda h: '{"a": NaN}'), "NaN stands there"),
    "name twice": (with_header(lambda h: '{"a": 1, "a": 2}'), "'a' comes twice"),
    "number of many digits": (with_header(lambda h: '{"a": ' + "9" * 5000 + "}"), "JSON"),
    "nested deeply": (with_header(lambda h: '{"a": ' + "[" * 100_000 + "]" * 100_000 + "}"), "nested too deeply"),
    "texts that are no texts": (with_header(lambda h: h.update(__metadata__={"a": 1})), "__metadata__ to hold texts"),
    "texts that are a list": (with_header(lambda h: h.update(__metadata__=[])), "__metadata__ to hold texts"),
    "entry is a number": (with_header(lambda h: h.update(a=3)), "dtype, shape and data_offsets"),
    "entry lacks its shape": (with_header(lambda h: h["a"].pop("shape") and None), "dtype, shape and data_offsets"),
    "entry has more": (with_header(entry(path="../x")), "dtype, shape and data_offsets"),
    "unknown dtype": (with_header(entry(dtype="F8_E4M3")), "one of the types"),
    "dtype is a list": (with_header(entry(dtype=["F32"])), "one of the types"),
    "object dtype": (with_header(entry(dtype="|O")), "one of the types"),
    "negative dimension": (with_header(entry(shape=[-6])), "to have a shape"),
    "two negative dimensions": (with_header(entry(shape=[-2, -3])), "to have a shape"),
    "dimension is a float": (with_header(entry(shape=[6.0])), "to have a shape"),
    "dimension is true": (with_header(entry(shape=[6, True])), "to have a shape"),
    "shape is a text": (with_header(entry(shape="6")), "to have a shape"),
    "many dimensions": (with_header(entry(shape=[6] + [1] * 40)), "to have a shape"),
    "huge dimension": (with_header(entry(shape=[2**63])), "to have a shape"),
    "huge product": (with_header(entry(shape=[2**40, 2**40])), "to fill 24 bytes"),
    "huge empty": (with_header(entry(shape=[0, 2**50, 2**50], data_offsets=[0, 0])), "to fill 0 bytes"),
    "shape does not fit": (with_header(entry(shape=[5])), "to fill 24 bytes"),
    "dtype does not fit": (with_header(entry(dtype="F64")), "to fill 24 bytes"),
    "place past the end": (with_header(entry(data_offsets=[0, 2**40])), "within 26 bytes"),
    "place backwards": (with_header(entry(data_offsets=[24, 0])), "within 26 bytes"),
    "place of three": (with_header(entry(data_offsets=[0, 24, 26])), "within 26 bytes"),
    "negative place": (with_header(entry(data_offsets=[-24, 0])), "within 26 bytes"),
    "overlap": (with_header(lambda h: h["b"].update(data_offsets=[22, 24])), "to begin at byte 24"),
    "gap": (with_header(lambda h: h["b"].update(shape=[1], data_offsets=[25, 26])), "to begin at byte 24"),
    "gap in front": (with_header(lambda h: h.pop("a") and None), "to begin at byte 0"),
    "more at the end": (with_header(lambda h: None, tail=b"x"), "expected 26 bytes of data"),
    "cut": (with_header(lambda h: None)[:-1], "within 25 bytes"),
    "bool that is none": (with_header(lambda h: None)[:-1] + b"\x02", "hold 0 and 1"),
    "pairs of nothing": (with_header(lambda h: h["__metadata__"].update(complex128='["c"]')), "to list arrays"),
    "pairs that are no list": (with_header(lambda h: h["__metadata__"].update(complex128='"ab"')), "to list arrays"),
    "pairs of float32": (with_header(lambda h: h["__metadata__"].update(complex128='["a"]')), "real and imaginary"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_what_is_wrong_is_said(name: str) -> None:
    data, about = HOSTILE[name]
    with pytest.raises(FileFormatError, match=about) as caught:
        unpacked(data)
    assert str(caught.value).startswith("file")
    assert len(str(caught.value)) < 500
    assert isinstance(caught.value, ValueError)


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
def test_a_pickle_is_refused_and_never_loaded(protocol: int, tmp_path: Path) -> None:
    class Harmful:
        def __reduce__(self) -> Any:
            return (os.mkdir, (str(tmp_path / "made"),))

    with pytest.raises(FileFormatError, match=r"it is a pickle; of those, .*\n  hint  paddle\.load reads it"):
        unpacked(pickle.dumps({"w": Harmful()}, protocol))
    assert not (tmp_path / "made").exists()


def test_a_zip_archive_is_refused_and_never_unpacked(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "bomb.npz", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("../a.npy", bytes(10_000_000))
    with pytest.raises(FileFormatError, match=r"bomb\.npz: expected .* it is a zip archive"):
        container.read_path(tmp_path / "bomb.npz")


def test_a_missing_file_and_a_folder(tmp_path: Path) -> None:
    with pytest.raises(FileMissing, match="nothing: there is no such file") as caught:
        container.read_path(tmp_path / "nothing")
    assert isinstance(caught.value, FileNotFoundError)
    with pytest.raises(FileFormatError, match="it is a folder or a device"):
        container.read_path(tmp_path)
    with pytest.raises(FileFormatError, match="it is a folder or a device"):
        container.read_path(os.devnull)


def test_a_file_that_shrinks_while_it_is_read() -> None:
    class Shrinking(io.BytesIO):
        def read(self, size: int | None = -1) -> bytes:
            data = super().read(size)
            return data if self.tell() < 200 else b""

    with pytest.raises(FileFormatError, match="the file ended after"):
        container.read_stream(Shrinking(packed({"a": np.zeros(1000)})), "file")


VALID = packed(
    {
        "weight": np.arange(12, dtype=np.float32).reshape(3, 4),
        "mask": np.array([True, False]),
        "half": np.ones((2, 1), np.float16),
        "z": np.array(1 + 2j),
    },
    format="x",
)


@st.composite
def damaged(draw: st.DrawFn) -> bytes:
    """The bytes of a container, some of them changed, cut, repeated or swapped."""
    data = bytearray(VALID)
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, max(len(data) - 1, 0)))
        match draw(st.integers(0, 4)):
            case 0:
                data[at : at + 1] = bytes([draw(st.integers(0, 255))])
            case 1:
                del data[at : at + draw(st.integers(1, 40))]
            case 2:
                data[at:at] = draw(st.binary(max_size=12))
            case 3:
                data[at:at] = data[at : at + draw(st.integers(1, 40))]
            case 4:
                data[at : at + 1] = draw(st.sampled_from([b"9", b"-", b'"', b"[", b"]", b"{", b"}", b",", b":", b"e9"]))
    return bytes(data)


@settings(max_examples=300)
@given(damaged())
@example(VALID)
def test_damage_gives_other_data_or_the_one_error_and_little_memory(data: bytes) -> None:
    tracemalloc.start()
    try:
        with contextlib.suppress(FileFormatError):  # and nothing else
            unpacked(data)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 64 * len(data) + 100_000
