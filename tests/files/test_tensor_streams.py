"""Tensors as Paddle's kernels write them."""

from __future__ import annotations

import numpy as np
import pytest

from gradtool.engine.core.errors import FileFormatError
from gradtool.engine.core.spec import DTYPES
from gradtool.engine.files import streams

ONE = b"".join(streams.tensor(np.arange(6, dtype="float32").reshape(2, 3)))


@pytest.mark.parametrize("name", [d.name for d in DTYPES])
def test_every_type_comes_back(name: str) -> None:
    kind = next(d for d in DTYPES if d.name == name).numpy
    arrays = {"b": np.array([[1, 0], [1, 1]]).astype(kind), "a": np.zeros((0, 3), kind), "c": np.ones((), kind)}
    data = b"".join(streams.pieces(arrays))
    assert streams.is_stream(data[:64])
    read = streams.name_tensors(data, arrays, "values")
    assert list(read) == ["a", "b", "c"]
    for key, array in arrays.items():
        assert read[key].dtype == array.dtype
        np.testing.assert_array_equal(read[key], array)


def test_levels_of_offsets_are_passed_over() -> None:
    offsets = (1).to_bytes(8, "little") + (16).to_bytes(8, "little") + bytes(16)
    (array,) = streams.read(ONE[:4] + offsets + ONE[12:], "values")
    np.testing.assert_array_equal(array, np.arange(6).reshape(2, 3))


@pytest.mark.parametrize(
    ("data", "came"),
    [
        (ONE[:-1], "24 bytes, and 23 are left"),
        (ONE[:10], "are left"),
        (b"\1" + ONE[1:], "version 1"),
        (ONE[:4] + (9).to_bytes(8, "little") + ONE[12:], "9 levels"),
        (ONE[:16] + (2**31).to_bytes(4, "little") + ONE[20:], "description"),
        (ONE.replace(b"\x08\x05", b"\x08\x63"), "type 99"),
        (ONE.replace(b"\x10\x02\x10\x03", b"\x10\x7f\x10\x7f"), "are left"),
        (
            b"".join(streams.tensor(np.ones(2, np.uint8))).replace(b"\x08\x14", b"\x08\x00").replace(b"\1\1", b"\1\2"),
            "0 and 1",
        ),
    ],
)
def test_what_is_no_such_file_is_refused(data: bytes, came: str) -> None:
    with pytest.raises(FileFormatError, match=came):
        streams.read(data, "values")


def test_number_of_tensors_is_that_of_the_names() -> None:
    with pytest.raises(FileFormatError, match="values of 2 variables"):
        streams.name_tensors(ONE, ["a", "b"], "values")
