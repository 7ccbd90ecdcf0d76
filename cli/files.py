"""Writing files: whole, or not at all (``engine/writing.py``); what goes wrong is a message."""

from __future__ import annotations

import os
from collections.abc import Mapping

from .errors import CommandError


def write_all(texts: Mapping[str, str]) -> None:
    """Write every file, or none; raises :class:`CommandError` when that cannot be done."""
    if not texts:
        return
    from gradtool.engine.writing import write_files

    try:
        write_files({path: text.encode("utf-8", "backslashreplace") for path, text in texts.items()})
    except OSError as error:
        raise CommandError(f"cannot write {error.filename}: {error.strerror or error}") from None


def make_folder(path: str) -> None:
    """Create a folder with its parents; raises :class:`CommandError` when that cannot be done."""
    if not path:
        raise CommandError("the name of the folder is empty", "'.' is the current folder")
    try:
        os.makedirs(path, exist_ok=True)
    except (FileExistsError, NotADirectoryError):
        raise CommandError(f"cannot write to folder {path}: there is a file of that name") from None
    except OSError as error:
        raise CommandError(f"cannot write to folder {path}: {error.strerror or error}") from None
