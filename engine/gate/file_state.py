"""State of files, folders and variables, in a form that can be compared in another run; quickly loaded."""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Iterable
from typing import Final

from ..script.imports import PACKAGES

LARGE: Final = 8 << 20
"""Bytes of a file that is known by its size and its times, and not by its contents."""


def hash_text(text: str | None) -> str | None:
    """A text as it is kept: nothing of it can be read there."""
    return None if text is None else hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()


def digest(file: str) -> str | None:
    """Return the digest of a file; None where there is none."""
    if os.path.isdir(file):
        return "a folder"
    try:
        with open(file, "rb") as stream:
            status = os.fstat(stream.fileno())
            if status.st_size > LARGE:
                return f"{status.st_size}:{status.st_mtime_ns}:{status.st_ctime_ns}:{status.st_ino}"
            return hashlib.sha256(stream.read()).hexdigest()
    except OSError:
        return None


def folder_digest(folder: str) -> str | None:
    """Return the digest of the names in a folder; None where there is none."""
    try:
        return hash_text("\0".join(sorted(os.listdir(folder))))
    except OSError:
        return None


def find_shadows(folder: str, names: Iterable[str]) -> list[str]:
    """Return the entries of a folder that are called like imported modules: a new one could stand in the way of
    another.

    Args:
        names: the parts of the names of modules that a model has looked for.
    """
    others = sys.stdlib_module_names | PACKAGES | {*names}
    try:
        return sorted(entry for entry in os.listdir(folder) if entry.partition(".")[0] in others)
    except OSError:
        return []


def environment() -> str | None:
    """The whole environment."""
    return hash_text("\0".join(f"{name}={value}" for name, value in sorted(os.environ.items())))
