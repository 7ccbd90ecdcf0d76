"""Files that data sets were published in: where Paddle keeps them. gradtool loads nothing from the network."""

from __future__ import annotations

import os
from typing import Any, NamedTuple

from gradtool.engine.core.errors import UsageError
from gradtool.paddle.utils.download import get_path_from_url


class Published(NamedTuple):
    """A file: its address, its MD5 sum, and the folder that it is kept in."""

    address: str
    md5: str
    folder: str

    def path(self, given: str | None, name: str, download: bool) -> str:
        """The file *given* by the argument *name*, or else the one that lies where Paddle puts it.

        Raises:
            NotGiven: none is given, and *download* is False (an AssertionError).
            FileMissing: it does not lie there; the message has the place and the address (a FileNotFoundError).
            ChecksumError: another one lies there (a RuntimeError).
        """
        if given is not None:
            return given
        if not download:
            raise NotGiven(f"{name} is not set and downloading automatically is disabled")
        home = os.path.join(os.path.expanduser("~"), ".cache", "paddle", "dataset", self.folder)
        return get_path_from_url(self.address, home, self.md5, decompress=False)


class NotGiven(UsageError, AssertionError):
    """An argument that says which part of a data set is read does not (Paddle raises AssertionError)."""


def check_mode(mode: str, modes: Any) -> str:
    """*mode* in small letters, if it is one of *modes*.

    Raises:
        NotGiven: it is none (an AssertionError).
    """
    if mode.lower() not in modes:
        named = [f"'{m}'" for m in modes]
        raise NotGiven(f"mode should be {', '.join(named[:-1])} or {named[-1]}, but got {mode}")
    return mode.lower()
