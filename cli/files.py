"""Writing files: whole, or not at all (``engine/files/writing.py``); what goes wrong is a message."""

from __future__ import annotations

from collections.abc import Mapping

from .errors import UnwrittenFile

Content = str | bytes


def write_all(contents: Mapping[str, Content]) -> None:
    """Write every file, or none; raises :class:`UnwrittenFile` when that cannot be done."""
    if not contents:
        return
    from gradtool.engine.files.writing import write_files

    try:
        write_files({path: encode(content) for path, content in contents.items()})
    except OSError as error:
        raise UnwrittenFile(f"cannot write {error.filename}: {error.strerror or error}") from None


def encode(content: Content) -> bytes:
    """The bytes of a file; what UTF-8 cannot say is escaped."""
    return content if isinstance(content, bytes) else content.encode("utf-8", "backslashreplace")


def make_folder(path: str) -> None:
    """Create a folder with its parents; raises :class:`UnwrittenFile` when that cannot be done."""
    if not path:
        raise UnwrittenFile("the name of the folder is empty", "'.' is the current folder")
    from gradtool.engine.files import confined_paths

    try:
        confined_paths.make_folder(path)
    except (FileExistsError, NotADirectoryError):
        raise UnwrittenFile(f"cannot write to folder {path}: there is a file of that name") from None
    except OSError as error:
        raise UnwrittenFile(f"cannot write to folder {path}: {error.strerror or error}") from None
