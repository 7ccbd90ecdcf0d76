"""Files within tar archives, read where they stand: nothing is unpacked to the disk."""

from __future__ import annotations

import tarfile
from typing import Any

from gradtool.engine.core.errors import FileFormatError


class Archive:
    """A tar archive, compressed or not. It is opened in each process that reads it, with its place.

    Raises:
        FileFormatError: it is no archive (a ValueError).
    """

    def __init__(self, path: str) -> None:
        self._file: Any = None
        self.path = path
        self._members: dict[str, tarfile.TarInfo] = {}

    def __del__(self) -> None:
        if self._file is not None:
            self._file.close()

    def __getstate__(self) -> dict[str, Any]:
        return {"path": self.path, "_file": None, "_members": {}}

    def names(self) -> list[str]:
        """Return the names of its members, in its order."""
        self._open()
        return [*self._members]

    def read(self, name: str) -> bytes:
        """The bytes of that file.

        Raises:
            FileFormatError: it is not in the archive (a ValueError).
        """
        self._open()
        member = self._members.get(name)
        if member is None or not member.isfile():
            raise FileFormatError(self.path, f"an archive with a file {name}", "there is none in it")
        try:
            data: bytes = self._file.extractfile(member).read()
        except (tarfile.TarError, EOFError, OSError) as error:
            raise FileFormatError(self.path, "a whole archive", f"{name} cannot be read: {error}") from None
        return data

    def _open(self) -> None:
        if self._file is not None:
            return
        try:
            self._file = tarfile.open(self.path)  # noqa: SIM115  (read for as long as the archive is)
            self._members = {member.name: member for member in self._file.getmembers()}
        except (tarfile.TarError, EOFError) as error:
            raise FileFormatError(self.path, "a tar archive", f"it cannot be read: {error}") from None
