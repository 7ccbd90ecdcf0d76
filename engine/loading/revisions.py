"""Model files as they were in a revision of git: ``model.py@main``."""

from __future__ import annotations

import io
import os
import shutil
import subprocess
import tarfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

from ..core.command_errors import CommandError, PackageNeeded
from ..files import temporary_files
from .targets import exists


def is_revision(text: str) -> bool:
    """Return whether *text* names a file in a revision, and not a file of that name."""
    before, at, after = text.rpartition("@")
    return bool(at and before and after) and not exists(text)


@contextmanager
def check_out(text: str) -> Iterator[str]:
    """The path of ``FILE@REVISION`` in a folder of its own, which holds all that git has of that revision.

    What the file opens by a relative name is read from the working folder, where data lies that git does not hold.

    Raises:
        CommandError: no repository, no such revision, no such file in it, or there is no git.
    """
    path, _, revision = text.rpartition("@")
    file, colon, function = path.partition(":")
    folder = os.path.dirname(os.path.abspath(file))
    while not os.path.isdir(folder):
        folder = os.path.dirname(folder)
    top = _git(folder, "rev-parse", "--show-toplevel", otherwise=f"{folder} is in no git repository").strip()
    commit = _git(
        folder,
        *("rev-parse", "--verify", "--quiet", f"{revision}^{{commit}}"),
        otherwise=f"unknown revision {revision!r} in {text}",
    ).strip()
    inside = Path(os.path.abspath(file)).resolve().relative_to(Path(top).resolve())
    with temporary_files.folder() as copy:
        archive = _output(top, "archive", "--format=tar", commit)
        with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
            unpack(tar, copy)
        there = os.path.join(copy, inside)
        if not os.path.isfile(there):
            raise CommandError(f"there is no {inside.as_posix()} in revision {revision}")
        yield there + colon + function


def unpack(tar: tarfile.TarFile, folder: str) -> None:
    """Write the files, folders and symbolic links of an archive that git made; nothing is written outside of *folder*.

    ``TarFile.extractall`` takes no filter before Python 3.11.4. Links come last, so that no file is written through
    one. A link that leads out of the folder is skipped: its target belongs to no revision.

    Raises:
        CommandError: a name in the archive is absolute or leads out of the folder.
    """
    links = {}
    for member in tar:
        name = PurePosixPath(member.name)
        if name.is_absolute() or ".." in name.parts:
            raise CommandError(f"the revision holds {member.name!r}, which is no path inside of the repository")
        path = os.path.join(folder, *name.parts)
        if member.issym():
            links[path] = member.linkname
        elif member.isdir():
            os.makedirs(path, exist_ok=True)
        elif member.isfile():
            _write_file(tar, member, path)
    _make_links(links, os.path.realpath(folder))


def _write_file(tar: tarfile.TarFile, member: tarfile.TarInfo, path: str) -> None:
    content = tar.extractfile(member)
    assert content is not None  # it is a file
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        shutil.copyfileobj(content, file)
    os.chmod(path, 0o755 if member.mode & 0o100 else 0o644)


def _make_links(links: Mapping[str, str], folder: str) -> None:
    """Make links by path, and remove those that lead out of *folder*, which may be through other links."""
    for path, target in links.items():
        os.makedirs(os.path.dirname(path), exist_ok=True)
        os.symlink(target, path)
    outside = [path for path in links if os.path.commonpath([folder, os.path.realpath(path)]) != folder]
    for path in outside:
        os.unlink(path)


def _git(folder: str, *words: str, otherwise: str) -> str:
    try:
        return _output(folder, *words).decode(errors="replace")
    except subprocess.CalledProcessError as error:
        said = error.stderr.decode(errors="replace").strip().splitlines()
        raise CommandError(otherwise, said[0] if said else None) from None


def _output(folder: str, *words: str) -> bytes:
    try:
        return subprocess.run(["git", "-C", folder, *words], check=True, capture_output=True).stdout
    except FileNotFoundError:
        raise PackageNeeded("a revision needs git, and there is no git on the PATH") from None
