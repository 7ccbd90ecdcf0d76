"""Files of ``torch.save`` are read as data: tensors by their storages, plain containers, and nothing else."""

from __future__ import annotations

import io
import zipfile
from typing import Any

import numpy as np
import pytest

from gradtool.engine.core.errors import FileFormatError
from gradtool.engine.files import torch_tensors

PROTO = b"\x80\x02"


def name(module: str, called: str) -> bytes:
    return f"c{module}\n{called}\n".encode()


def text(value: str) -> bytes:
    return b"X" + len(value).to_bytes(4, "little") + value.encode()


def whole(value: int) -> bytes:
    return b"J" + value.to_bytes(4, "little", signed=True)


def many(*parts: bytes) -> bytes:
    """A tuple."""
    return b"(" + b"".join(parts) + b"t"


def storage(kind: str = "FloatStorage", key: str = "0", count: int = 6) -> bytes:
    return many(text("storage"), name("torch", kind), text(key), text("cpu"), whole(count)) + b"Q"


def tensor(
    sizes: tuple[int, ...], steps: tuple[int, ...], offset: int = 0, of: bytes = b"", more: bytes = b""
) -> bytes:
    hooks = name("collections", "OrderedDict") + b")R"
    places = many(*map(whole, sizes)), many(*map(whole, steps))
    arguments = many(of or storage(), whole(offset), *places, b"\x89", hooks, more)
    return name("torch._utils", "_rebuild_tensor_v2") + arguments + b"R"


def saved(pickle: bytes, order: bytes = b"little", **files: bytes) -> bytes:
    """A file of ``torch.save``; *files* are the bytes of its storages, ``s0``, and of others."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("archive/data.pkl", PROTO + pickle + b".")
        archive.writestr("archive/byteorder", order)
        for called, data in files.items():
            archive.writestr(f"archive/data/{called[1:]}" if called[0] == "s" else f"archive/{called}", data)
    return file.getvalue()


SIX = np.arange(6, dtype="<f4").tobytes()


def read(data: bytes) -> Any:
    return torch_tensors.read(data, "file.pt")


def test_tensors_share_a_storage_and_have_their_own_steps() -> None:
    data = saved(many(tensor((2, 3), (3, 1)), tensor((3, 2), (1, 3)), tensor((2,), (3,), 1), tensor((), (), 5)), s0=SIX)
    plain, turned, column, lone = (t.array for t in read(data))
    np.testing.assert_array_equal(plain, np.arange(6).reshape(2, 3))
    np.testing.assert_array_equal(turned, np.arange(6).reshape(2, 3).T)
    np.testing.assert_array_equal(column, [1, 4])
    assert lone.shape == ()
    assert lone == 5
    assert {a.dtype.name for a in (plain, turned, column, lone)} == {"float32"}


@pytest.mark.parametrize(
    ("kind", "elements", "expected"),
    [
        ("LongStorage", np.array([1, -2], "<i8"), [1, -2]),
        ("HalfStorage", np.array([1.5, -2], "<f2"), [1.5, -2]),
        ("BoolStorage", np.array([1, 0], "u1"), [True, False]),
        ("ComplexFloatStorage", np.array([1j, 2], "<c8"), [1j, 2]),
        ("BFloat16Storage", np.array([0x3FC0, 0xC000], "<u2"), [1.5, -2]),
    ],
)
def test_elements_of_every_size_are_read(kind: str, elements: Any, expected: list[Any]) -> None:
    of = storage(kind, "0", 2)
    array = read(saved(tensor((2,), (1,), of=of), s0=elements.tobytes())).array
    np.testing.assert_array_equal(array.astype(np.asarray(expected).dtype), expected)


def test_bytes_of_the_other_order_are_turned() -> None:
    data = saved(tensor((6,), (1,)), b"big", s0=np.arange(6, dtype=">f4").tobytes())
    np.testing.assert_array_equal(read(data).array, np.arange(6, dtype=np.float32))


def test_only_parameters_say_whether_they_train() -> None:
    parameter = name("torch._utils", "_rebuild_parameter") + many(tensor((6,), (1,)), b"\x88", b"}") + b"R"
    trains, untold = read(saved(many(parameter, tensor((6,), (1,))), s0=SIX))
    assert (trains.trains, untold.trains) == (True, None)


@pytest.mark.parametrize(
    ("pickle", "told"),
    [
        (
            name("torch.nn.modules.linear", "Linear") + b")\x81",
            "'torch.nn.modules.linear.Linear', and nothing was made",
        ),
        (name("argparse", "Namespace") + b")R", "it names 'argparse.Namespace'"),
        (tensor((7,), (1,)), "reaches behind its 24 bytes"),
        (tensor((6,), (1,), 1), "reaches behind its 24 bytes"),
        (tensor((1 << 13, 1 << 13), (0, 0)), "reaches behind its 24 bytes"),
        (tensor((-1,), (1,)), "damaged"),
        (tensor((2, 3), (1,)), "damaged"),
        (tensor((2,), (1,), of=storage(key="9")), "data/9 is missing"),
        (tensor((2,), (1,), more=b"}" + text("conj") + b"\x88s"), "conjugated or negated"),
        (tensor((2,), (1,)) + b"}" + text("array") + b"Nsb", "damaged"),
        (name("torch", "FloatStorage") + b"}" + text("kind") + text("int8") + b"sb", "damaged"),
        (name("torch", "FloatStorage"), "a name, or half an array"),
        (storage(), "a name, or half an array"),
        (text("x") + b"Q", "damaged"),
    ],
)
def test_anything_else_ends_the_reading(pickle: bytes, told: str) -> None:
    with pytest.raises(FileFormatError, match=told.replace("(", r"\(")):
        read(saved(pickle, s0=SIX))


def test_tensors_that_are_expanded_over_and_over_end_the_reading() -> None:
    side = 1 << 12
    huge = [tensor((side, side - i), (0, 0)) for i in range(3)]
    with pytest.raises(FileFormatError, match="many times the elements that are stored"):
        read(saved(many(*huge), s0=SIX))


def test_what_other_writers_made_is_told() -> None:
    with pytest.raises(FileFormatError, match="it is no zip archive"):
        read(b"\x80\x02\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19.")
    with pytest.raises(FileFormatError, match="it holds TorchScript"):
        read(saved(b"N", **{"code/net.py": b""}))
