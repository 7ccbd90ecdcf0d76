"""Files are written whole or not at all."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

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
