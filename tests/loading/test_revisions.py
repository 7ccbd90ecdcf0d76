"""Archives that git made are unpacked into one folder, in every version of Python."""

from __future__ import annotations

import io
import os
import tarfile
from pathlib import Path

import pytest

from gradtool.engine.core.command_errors import CommandError
from gradtool.engine.loading.revisions import unpack


def archive(*members: tuple[str, bytes | str | None], mode: int = 0o644) -> tarfile.TarFile:
    """An archive of files (bytes), symbolic links (texts) and folders (None)."""
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w") as tar:
        for name, content in members:
            member = tarfile.TarInfo(name)
            member.mode = mode
            if content is None:
                member.type = tarfile.DIRTYPE
            elif isinstance(content, str):
                member.type, member.linkname = tarfile.SYMTYPE, content
            else:
                member.size = len(content)
            tar.addfile(member, io.BytesIO(content) if isinstance(content, bytes) else None)
    data.seek(0)
    return tarfile.open(fileobj=data)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "inside").mkdir()
    return tmp_path / "inside"


def names(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*"))


def test_files_folders_and_links_are_written(folder: Path) -> None:
    unpack(
        archive(("model.py", b"a"), ("src", None), ("src/rate.py", b"b"), ("to/here", "../src/rate.py")), str(folder)
    )
    assert names(folder) == ["model.py", "src", "src/rate.py", "to", "to/here"]
    assert (folder / "to" / "here").read_bytes() == b"b"


@pytest.mark.parametrize(("mode", "expected"), [(0o664, 0o644), (0o775, 0o755), (0o4777, 0o755)])
def test_modes_are_those_that_git_knows(folder: Path, mode: int, expected: int) -> None:
    unpack(archive(("run", b"a"), mode=mode), str(folder))
    assert (folder / "run").stat().st_mode & 0o7777 == expected


@pytest.mark.parametrize("content", [b"a", "model.py", None], ids=["file", "link", "folder"])
@pytest.mark.parametrize("name", ["../out", "a/../../out", "a/..", "/out", "//out"])
def test_names_outside_are_refused(folder: Path, name: str, content: bytes | str | None) -> None:
    with pytest.raises(CommandError, match="no path inside"):
        unpack(archive((name, content)), str(folder))
    assert [path.name for path in folder.parent.iterdir()] == ["inside"]


@pytest.mark.parametrize("target", ["/etc/passwd", "..", "../../other", "a/../../other"])
def test_links_that_lead_out_are_skipped(folder: Path, target: str) -> None:
    unpack(archive(("model.py", b"a"), ("link", target)), str(folder))
    assert names(folder) == ["model.py"]


def test_links_that_lead_out_through_others_are_skipped(folder: Path) -> None:
    """By its text alone the second link stays inside."""
    unpack(archive(("a/b/file", b"a"), ("a/b/up", "../.."), ("out", "a/b/up/../other")), str(folder))
    assert not os.path.lexists(folder / "out")
    assert (folder / "a" / "b" / "up").resolve() == folder.resolve()


def test_nothing_is_written_through_a_link(folder: Path) -> None:
    """Whatever the order, the folder of a file is a folder: the link of its name has no place left."""
    with pytest.raises(FileExistsError):
        unpack(archive(("sub", "../"), ("sub/file", b"a")), str(folder))
    assert [path.name for path in folder.parent.iterdir()] == ["inside"]
    assert (folder / "sub" / "file").read_bytes() == b"a"


def test_other_kinds_of_members_are_skipped(folder: Path) -> None:
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w") as tar:
        for name, kind in (("pipe", tarfile.FIFOTYPE), ("device", tarfile.CHRTYPE), ("hard", tarfile.LNKTYPE)):
            member = tarfile.TarInfo(name)
            member.type, member.linkname = kind, "/etc/passwd"
            tar.addfile(member)
    data.seek(0)
    with tarfile.open(fileobj=data) as tar:
        unpack(tar, str(folder))
    assert not names(folder)
