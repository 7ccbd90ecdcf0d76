"""``--feed``: what a file of arrays may be, and that everything else is one message and exit code 2."""

from __future__ import annotations

import io
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gradtool.engine.data import npz
from tests.cli.conftest import Run, Write

NET = """\
import paddle
paddle.enable_static()
x = paddle.static.data('x', [None, 3])
loss = paddle.mean(paddle.static.nn.fc(x, 2))
"""
FIXED = NET.replace("None", "2")
X = np.arange(6, dtype="float32").reshape(2, 3)


def array(header: str | bytes = "", data: bytes = X.tobytes(), version: bytes = b"\1\0") -> bytes:
    """An ``.npy`` file with that header."""
    text = header or "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }"
    raw = text.encode() if isinstance(text, str) else text
    width = 2 if version[0] == 1 else 4
    return b"\x93NUMPY" + version + len(raw).to_bytes(width, "little") + raw + data


def declared(type_: str = "'<f4'", order: str = "False", shape: str = "(2, 3)") -> bytes:
    return array(f"{{'descr': {type_}, 'fortran_order': {order}, 'shape': {shape}, }}")


def archive(*members: tuple[str, bytes], method: int = zipfile.ZIP_STORED) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as written:
        for name, data in members:
            written.writestr(name, data)
    return file.getvalue()


GOOD = archive(("x.npy", array()))
ENTRY = GOOD.index(b"PK\1\2")
END = GOOD.index(b"PK\5\6")


def changed(data: bytes, at: int, form: str, *values: int) -> bytes:
    damaged = bytearray(data)
    struct.pack_into(form, damaged, at, *values)
    return bytes(damaged)


def twice(name: str = "x.npy") -> bytes:
    with pytest.warns(UserWarning, match="Duplicate name"):
        return archive(("x.npy", array()), (name, array()))


def overlapping() -> bytes:
    """Two entries of the directory, and one member for both."""
    entry = GOOD[ENTRY:END]
    end = GOOD[END:]
    both = GOOD[:ENTRY] + entry + entry.replace(b"x.npy", b"y.npy") + end
    return changed(both, len(both) - len(end) + 8, "<HHL", 2, 2, 2 * len(entry))


def fed(gradtool: Run, model: Write, folder: Path, data: bytes, text: str = NET, name: str = "feed.npz") -> Any:
    (folder / name).write_bytes(data)
    return gradtool("backward", model(text), "--feed", name, "-q")


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "it is no zip archive, or it is cut short"),
        (b"nothing of the kind", "it is no zip archive"),
        (GOOD[:-30], "it is no zip archive, or it is cut short"),
        (GOOD + b"more", "something follows the end of its directory"),
        (GOOD[: END - 4] + GOOD[END:], "cannot be"),
        (changed(GOOD, ENTRY + 8, "<H", 1), "'x.npy' is encrypted"),
        (archive(("x.npy", array()), method=zipfile.ZIP_LZMA), "compressed by method 14"),
        (changed(GOOD, ENTRY + 24, "<L", 99_999), "cannot have 99999 bytes"),
        (changed(GOOD, ENTRY + 42, "<L", 7), "there is no member 'x.npy' at byte 7"),
        (changed(GOOD, ENTRY + 42, "<L", 2**31), "would be at byte 2147483648"),
        (changed(GOOD, ENTRY, "<L", 0), "its directory is cut short or was changed"),
        (changed(GOOD, END + 16, "<L", 2**31), "cannot be"),
        (changed(GOOD, ENTRY - 4, "<L", 7), "the checksum is wrong"),
        (overlapping(), "unknown tensor in feed.npz: 'y'"),
        (archive(("../../x.npy", array())), "unknown tensor in feed.npz: '../../x'"),
        (archive(("x.npy", array()), ("x", array())), "it holds 'x' 2 times"),
        (archive(("x", b"text")), "of 'x', it begins with b'text'"),
        (archive(("x.npy", array(version=b"\7\0"))), "unknown version 7.0"),
        (archive(("x.npy", array()[:30])), "cut short within its header"),
        (archive(("x.npy", array(b"\xff\xfe", version=b"\3\0"))), "not UTF-8"),
        (archive(("x.npy", array("{" * 9000))), "its header is not one of an array"),
        (archive(("x.npy", array("-" * 20_000))), "its header has 20000 bytes"),
        (archive(("x.npy", declared("'|O'"))), "Python objects"),
        (archive(("x.npy", declared("[('a', '<f4')]"))), "its elements have fields"),
        (archive(("x.npy", declared("'<U3'"))), "its elements are '<U3'"),
        (archive(("x.npy", declared("'<f16'"))), "its elements are '<f16'"),
        (archive(("x.npy", declared(shape="(-2, 3)"))), "its header is not one of an array"),
        (archive(("x.npy", declared(shape="(2.0, 3)"))), "its header is not one of an array"),
        (archive(("x.npy", declared(shape=f"({10**19}, 3)"))), "no array is that large"),
        (archive(("x.npy", declared(shape="(0, 99999999999999999999)"))), "no array is that large"),
        (archive(("x.npy", declared(shape=f"({'1, ' * 40})"))), "no array is that large"),
        (archive(("x.npy", declared(shape="(2000, 3)"))), "it declares 24000 bytes, of shape [2000, 3], and has 24"),
        (archive(("x.npy", declared("'|b1'", shape="(24,)"))), "it holds truth values, and one of them is 160"),
        (array()[:-1], "24 bytes are declared, and 23 are there"),
    ],
)
def test_what_is_no_file_of_arrays(gradtool: Run, model: Write, folder: Path, data: bytes, said: str) -> None:
    done = fed(gradtool, model, folder, data)
    assert (done.code, done.out) == (2, "")
    assert said in done.err
    assert done.err.startswith(
        "error: feed.npz is no .npz file of plain arrays: " if "unknown" not in said else "error: "
    )


def test_a_name_that_comes_twice(gradtool: Run, model: Write, folder: Path) -> None:
    done = fed(gradtool, model, folder, twice())
    assert done.code == 2
    assert "it holds 'x' 2 times" in done.err


def test_members_that_share_their_bytes(tmp_path: Path) -> None:
    (tmp_path / "feed.npz").write_bytes(overlapping())

    def fail(why: str) -> Any:
        raise ValueError(why)

    with pytest.raises(ValueError, match=r"'y\.npy' lies over another member"):
        npz.read(str(tmp_path / "feed.npz"), lambda name: None, fail)


def test_a_bomb_is_refused_before_it_is_opened(
    gradtool: Run, model: Write, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """80 MB in a file of 80 kB: more than the variable takes, and (here) more than is taken for any."""
    big = declared(shape="(20000000,)")[: -X.nbytes] + bytes(80_000_000)
    data = archive(("x.npy", big), method=zipfile.ZIP_DEFLATED)
    assert len(data) < 100_000
    monkeypatch.setattr(npz.npy, "elements", lambda *_: pytest.fail("it was read"))
    done = fed(gradtool, model, folder, data, FIXED)
    assert done.code == 2
    assert "it declares 80000000 bytes, of shape [20000000], and what it is for has room for 1048576" in done.err
    monkeypatch.setattr(npz, "MOST_INFLATED", 10**7)
    done = fed(gradtool, model, folder, data)
    assert done.code == 2
    assert f"{len(big)} bytes are compressed in it: 10000000 are read at most" in done.err


@pytest.mark.parametrize(
    "data",
    [
        array(),
        archive(("x.npy", array())),
        archive(("x", array(version=b"\2\0")), method=zipfile.ZIP_DEFLATED),
        archive(("x.npy", array(version=b"\3\0"))),
        archive(("x.npy", array('{"shape":(2L,3L),"fortran_order":False,"descr":"<f4"}\n'))),
        archive(("x.npy", declared("'>f4'")[: -X.nbytes] + X.astype(">f4").tobytes())),
        archive(("x.npy", declared(order="True")[: -X.nbytes] + np.asfortranarray(X).T.tobytes())),
    ],
)
def test_what_is_a_file_of_arrays(gradtool: Run, model: Write, folder: Path, data: bytes) -> None:
    """Other byte orders, dimensions the other way round, an array alone: the same as what NumPy reads."""
    done = fed(gradtool, model, folder, data)
    assert done.code == 0, done.err
    assert done.out == fed(gradtool, model, folder, GOOD).out


def numpy_writes(write: Callable[..., None], **arrays: Any) -> bytes:
    file = io.BytesIO()
    write(file, **arrays)
    return file.getvalue()


@pytest.mark.parametrize("write", [np.savez, np.savez_compressed])
def test_what_numpy_writes_is_read_as_numpy_reads_it(write: Callable[..., None], tmp_path: Path) -> None:
    arrays: dict[str, Any] = {
        "a/b": X,
        "é": X.T,
        "bytes": np.arange(3, dtype="u1"),
        "big": X.astype(">f8"),
        "true": np.array([True, False]),
        "": np.complex64(1 + 2j),
        "none": np.zeros((0, 3), "float16"),
        "long": np.arange(300_000),
    }
    (tmp_path / "feed.npz").write_bytes(numpy_writes(write, **arrays))
    again = npz.read(str(tmp_path / "feed.npz"), lambda name: None, lambda why: pytest.fail(why))
    with np.load(tmp_path / "feed.npz") as expected:
        assert list(again) == expected.files
        for name, value in again.items():
            np.testing.assert_array_equal(value, expected[name], strict=False)
            assert value.dtype == expected[name].dtype.newbyteorder("=")


def test_an_array_alone_needs_one_variable(gradtool: Run, model: Write, folder: Path) -> None:
    two = NET + "y = paddle.static.data('y', [None, 3])\n"
    done = fed(gradtool, model, folder, array(), two, "x.npy")
    assert done.code == 2
    assert "x.npy holds one array without a name, and there are 2 variables to feed: x, y" in done.err
    assert "np.savez(FILE, NAME=array) names it" in done.err


def test_what_is_no_file(gradtool: Run, model: Write, folder: Path) -> None:
    for name in (".", "/dev/null"):
        done = gradtool("backward", model(NET), "--feed", name, "-q")
        assert done.code == 2
        assert f"cannot read {name}: it is a folder or a device" in done.err
