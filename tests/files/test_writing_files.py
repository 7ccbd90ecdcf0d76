"""Files are written whole or not at all."""

from __future__ import annotations

import contextlib
import errno
import os
import signal
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from gradtool.engine.files import leftovers
from gradtool.engine.files.writing import write_files


def test_pieces_become_one_file(tmp_path: Path) -> None:
    path = tmp_path / "file"
    write_files({str(path): iter([b"one ", memoryview(b"two")])})
    assert path.read_bytes() == b"one two"
    assert os.listdir(tmp_path) == ["file"]


def test_what_was_there_stays_when_a_later_file_fails(tmp_path: Path) -> None:
    old = tmp_path / "old"
    old.write_bytes(b"old")
    with pytest.raises(FileNotFoundError) as caught:
        write_files({str(old): b"new", str(tmp_path / "fresh"): b"new", str(tmp_path / "no" / "file"): b"new"})
    assert caught.value.filename == str(tmp_path / "no" / "file")
    assert old.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["old"]


def test_new_files_go_when_moving_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    replace = os.replace

    def full(source: str, target: str) -> None:
        if target.endswith("second"):
            raise OSError(28, "No space left on device")
        replace(source, target)

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(OSError, match="No space left"):
        write_files({str(tmp_path / "first"): b"1", str(tmp_path / "second"): b"2"})
    assert os.listdir(tmp_path) == []


def test_pieces_that_raise_leave_nothing(tmp_path: Path) -> None:
    def pieces() -> Iterator[bytes]:
        yield b"begun"
        raise ValueError("no more")

    with pytest.raises(ValueError, match="no more"):
        write_files({str(tmp_path / "file"): pieces()})
    assert os.listdir(tmp_path) == []


def test_permissions_are_those_of_the_file_before_or_of_any_new_file(tmp_path: Path) -> None:
    old, new, usual = tmp_path / "old", tmp_path / "new", tmp_path / "usual"
    old.write_bytes(b"")
    old.chmod(0o640)
    usual.write_bytes(b"")
    write_files({str(old): b"x", str(new): b"x"})
    assert stat.S_IMODE(old.stat().st_mode) == 0o640
    assert new.stat().st_mode == usual.stat().st_mode


def test_a_link_keeps_pointing_at_its_file(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"old")
    (tmp_path / "link").symlink_to("file")
    write_files({str(tmp_path / "link"): b"new"})
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "file").read_bytes() == b"new"


def test_a_device_is_written_to() -> None:
    write_files({os.devnull: b"gone"})
    assert not os.path.isfile(os.devnull)


def test_it_is_on_the_disk_before_it_replaces_anything(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[str] = []
    replace, fsync = os.replace, os.fsync

    def synced(descriptor: int) -> None:
        folder = stat.S_ISDIR(os.fstat(descriptor).st_mode)
        done.append("folder" if folder else f"{os.fstat(descriptor).st_size} bytes")
        fsync(descriptor)

    def replaced(source: str, target: str) -> None:
        done.append(os.path.basename(target))
        replace(source, target)

    monkeypatch.setattr(os, "fsync", synced)
    monkeypatch.setattr(os, "replace", replaced)
    write_files({str(tmp_path / "one"): b"1", str(tmp_path / "two"): iter([b"2", b"2"])})
    assert done == ["1 bytes", "2 bytes", "one", "two", "folder"]


@pytest.mark.parametrize(("number", "stays"), [(errno.EINVAL, False), (errno.EIO, True)])
def test_a_disk_that_does_not_take_it(
    number: int, stays: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file system without such a thing is no error; a disk that fails is one, and what was there stays."""
    (tmp_path / "file").write_bytes(b"old")

    def fails(descriptor: int) -> None:
        raise OSError(number, "no")

    monkeypatch.setattr(os, "fsync", fails)
    with pytest.raises(OSError, match="no") if stays else contextlib.nullcontext():
        write_files({str(tmp_path / "file"): b"new"})
    assert (tmp_path / "file").read_bytes() == (b"old" if stays else b"new")
    assert os.listdir(tmp_path) == ["file"]


KILLED = """\
import os, signal, sys
from gradtool.engine.files.writing import write_files

def pieces():
    yield bytes(1000)
    os.kill(os.getpid(), signal.SIGKILL)

write_files({sys.argv[1]: pieces()})
"""


@pytest.fixture
def left(tmp_path: Path) -> Path:
    """What a process left unfinished that was killed while it wrote into ``tmp_path``."""
    done = subprocess.run([sys.executable, "-c", KILLED, str(tmp_path / "file")])
    assert done.returncode == -signal.SIGKILL
    (name,) = os.listdir(tmp_path)
    assert name.startswith(".gradtool-")
    return tmp_path / name


def test_what_a_killed_process_left_goes_with_the_next_write(left: Path) -> None:
    write_files({str(left.with_name("file")): b"new"})
    assert os.listdir(left.parent) == ["file"]


def test_what_anybody_else_has_there_stays(left: Path) -> None:
    """Another machine's, a living process's, that of a process that may have ended, a user's, and a folder."""
    place, pid, start, random = left.name.removeprefix(".gradtool-").split("-")
    ours = leftovers.fresh_name()
    names = [
        f".gradtool-{'0' * 12}-{pid}-{start}-{random}",
        ours,
        ".gradtool-notes",
        f".gradtool-{random}",
        f"{left.name}.txt",
        f"x{left.name}",
    ]
    for name in names:
        left.with_name(name).write_bytes(b"")
    folder = left.with_name(f".gradtool-{place}-{pid}-{start}-{'0' * 16}")
    folder.mkdir()
    write_files({str(left.with_name("file")): b"new"})
    assert sorted(os.listdir(left.parent)) == sorted([*names, folder.name, "file"])


def test_a_number_that_another_process_has_by_now(left: Path) -> None:
    place, _, _, random = left.name.removeprefix(".gradtool-").split("-")
    before = left.with_name(f".gradtool-{place}-{os.getpid()}-1-{random}")
    before.write_bytes(b"")
    write_files({str(left.with_name("file")): b"new"})
    assert os.listdir(left.parent) == ["file"]


def test_nothing_goes_where_the_system_does_not_say_who_is_there(left: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leftovers, "_place", lambda: None)
    write_files({str(left.with_name("file")): b"new"})
    assert sorted(os.listdir(left.parent)) == sorted([left.name, "file"])
