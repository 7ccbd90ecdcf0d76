"""Model files as they were in a revision of git: ``model.py@main``."""

from __future__ import annotations

import io
import os
import subprocess
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ..core.command_errors import CommandError, PackageNeeded
from ..files import unfinished
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
    with unfinished.folder() as copy:
        archive = _output(top, "archive", "--format=tar", commit)
        with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
            tar.extractall(copy, filter="data")
        there = os.path.join(copy, inside)
        if not os.path.isfile(there):
            raise CommandError(f"there is no {inside.as_posix()} in revision {revision}")
        yield there + colon + function


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
