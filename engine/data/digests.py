"""Digests of files of arrays: short texts that differ where their contents do."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable
from typing import Final

_PIECE: Final = 1 << 20


def digest_file(path: str) -> str:
    """Return the digest of a file or a folder of arrays; of a folder, the names, sizes and times of its files."""
    digest = hashlib.sha256()
    if os.path.isdir(path):
        for where, folders, files in os.walk(path):
            folders.sort()
            for name in sorted(files):
                status = os.stat(os.path.join(where, name))
                line = f"{os.path.relpath(where, path)}/{name}:{status.st_size}:{status.st_mtime_ns}\n"
                digest.update(os.fsencode(line))
        return digest.hexdigest()[:16]
    with open(path, "rb") as stream:
        while piece := stream.read(_PIECE):
            digest.update(piece)
    return digest.hexdigest()[:16]


def digest_parts(parts: Iterable[tuple[str, object]]) -> str:
    """Return the digest of a folder behind a protocol: the names of its files, and what stands for each of them."""
    digest = hashlib.sha256()
    for name, told in parts:
        digest.update(f"{name}\0{told}\n".encode("utf-8", "surrogatepass"))
    return digest.hexdigest()[:16]
