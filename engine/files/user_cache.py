"""Data kept for the next process in the user's cache folder: a folder for each purpose, with sealed files.

Whoever keeps something there names its folder, which :data:`NAMES` or a backend is. A file comes into being by
renaming, so processes that run at the same time see it whole or not at all. Whatever goes wrong here costs the time of
making it again and nothing else.

Some of it is compiled code. It counts only where nobody but the user can have written it (``file_trust.py``), and its
seal has a key: a secret that lies beside the folders, in a file that the user alone can read.
"""

from __future__ import annotations

import contextlib
import hmac
import os
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final, NamedTuple

from . import digest_files, file_trust, leftovers
from .writing import write_files

NAMES: Final = "names"
"""The folder of what shells offer at Tab: names in models."""

SECRET: Final = "secret"
"""The file of what seals have as their key."""

_SECRET_BYTES: Final = 32

LIMIT = 64 << 20
"""Bytes beyond which the files of a folder that were not used for longest are deleted."""


class Stored(NamedTuple):
    """Data kept for one purpose.

    Attributes:
        name: the name of its folder.
        folder: where; it need not be there.
        files, size: how many files, and their bytes.
    """

    name: str
    folder: Path
    files: int
    size: int


def home(variable: str, inside: str) -> Path | None:
    """Return the user's folder for files of a kind; None where no absolute path is known of one.

    Args:
        variable: of the environment, which may say where; a relative path there counts for nothing.
        inside: where the folder lies in the user's home.
    """
    said = next((p for p in map(os.environ.get, (variable, "LOCALAPPDATA")) if p and os.path.isabs(p)), None)
    if said is None and os.environ.get("HOME") == "":
        return None  # "~" would be the root of the disk
    path = said or os.path.join(os.path.expanduser("~"), inside)
    return Path(path) if os.path.isabs(path) else None


def folder(name: str = "") -> Path | None:
    """Return that of one purpose, or of all of them, beside what other programs keep; None for users without a home."""
    base = home("XDG_CACHE_HOME", ".cache")
    return None if base is None else base / "gradtool" / name


def make_folder(name: str) -> Path | None:
    """Return the folder of a purpose, made for this user alone; None where others can write, or the user cannot."""
    path = folder(name)
    if path is None:
        return None
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        path.mkdir(exist_ok=True, mode=0o700)
        if _is_users(path) and os.access(path, os.W_OK | os.R_OK | os.X_OK):
            return path
    return None


def _is_users(path: Path) -> bool:
    """Return whether the folder of a purpose, the one around it, and all above are closed to others."""
    inner, outer = str(path), str(path.parent)
    return (
        file_trust.is_users_folder(inner)
        and file_trust.is_users_folder(outer)
        and file_trust.is_closed(os.path.realpath(path.parent.parent))
    )


def holds_users_files(path: Path) -> bool:
    """Return whether all that lies in a folder, and in those below, is the user's own: regular files, no links, no
    pipes.
    """
    for at, folders, files in os.walk(path):
        for name in (*folders, *files):
            status = os.lstat(os.path.join(at, name))
            kind = stat.S_ISDIR if name in folders else stat.S_ISREG
            if not kind(status.st_mode) or not file_trust.is_users_own(status):
                return False
    return True


def _key(name: str, file: str, make: bool) -> bytes | None:
    """Return what the file of a purpose is sealed with; None where there is no secret, or another user's.

    Args:
        make: make the secret where there is none.
    """
    base = folder()
    if base is None:
        return None
    path = base / SECRET
    if make and not os.path.lexists(path):
        with contextlib.suppress(OSError):
            _draw(path)
    secret = file_trust.read(path)
    if secret is None or len(secret) != _SECRET_BYTES or (os.name == "posix" and os.lstat(path).st_mode & 0o077):
        return None
    return hmac.digest(secret, f"{name}/{file}".encode(), "sha256")


def _draw(path: Path) -> None:
    """Make the secret; of several processes that do, one is first, and the others take its."""
    temporary = path.with_name(leftovers.fresh_name())
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with open(descriptor, "wb") as file:
            file.write(os.urandom(_SECRET_BYTES))
        with contextlib.suppress(FileExistsError):
            os.link(temporary, path)
    finally:
        os.unlink(temporary)


def read(name: str, file: str) -> bytes | None:
    """Return what was kept for a purpose under the name *file*; None where nothing is, or nothing of the user's."""
    path = folder(name)
    if path is None or not _is_users(path):
        return None
    key = _key(name, file, make=False)
    content = None if key is None else digest_files.read(path / file, key)
    if content is not None:
        with contextlib.suppress(OSError):
            os.utime(path / file)  # used now
    return content


def keep(name: str, file: str, content: bytes) -> None:
    """Keep *content* for a purpose under the name *file*, if that can be."""
    path = make_folder(name)
    key = None if path is None else _key(name, file, make=True)
    if path is None or key is None:
        return
    with contextlib.suppress(OSError):
        write_files({str(path / file): digest_files.seal(content, key)}, durable=False, direct=False)
        os.chmod(path / file, 0o600)
        _shrink(path)


def list_stored(names: Iterable[str]) -> list[Stored]:
    """Return what is kept for each purpose, in the order of *names*; purposes without data are skipped."""
    listed: list[Stored] = []
    for name in names:
        path = folder(name)
        if path is not None and file_trust.is_users_folder(str(path)):
            sizes = [size for _, size in _files(path)]
            listed.append(Stored(name, path, len(sizes), sum(sizes)))
    return listed


def clear(names: Iterable[str]) -> list[Stored]:
    """Delete what is kept for purposes; what has been deleted, by purpose.

    Processes that are running go on: they have read what they need, and make again what is missing.
    """
    cleared: list[Stored] = []
    for name, home, _, _ in list_stored(names):
        files = size = 0
        for path, length in _files(home):
            with contextlib.suppress(OSError):
                os.unlink(path)
                files, size = files + 1, size + length
        cleared.append(Stored(name, home, files, size))
    return cleared


def _files(home: Path) -> Iterator[tuple[str, int]]:
    """The files in a folder and their bytes, also of folders in it; links are not followed."""
    for inside, _, names in os.walk(home):
        for name in sorted(names):
            path = os.path.join(inside, name)
            with contextlib.suppress(OSError):
                yield path, os.lstat(path).st_size


def _shrink(home: Path) -> None:
    """Delete the oldest files, until three quarters of the limit are left."""
    with os.scandir(home) as entries:
        files = [(e.stat().st_mtime, e.stat().st_size, e.path) for e in entries]
    total = sum(size for _, size, _ in files)
    if total <= LIMIT:
        return
    for _, size, path in sorted(files):
        with contextlib.suppress(OSError):
            os.unlink(path)
        total -= size
        if total <= LIMIT * 3 // 4:
            return
