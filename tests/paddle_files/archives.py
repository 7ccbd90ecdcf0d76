"""The programs that real Paddle saved: an archive for each version, as ``recording.py`` made it."""

from __future__ import annotations

import io
import tarfile
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

SAVED = Path(__file__).with_name("saved")


@cache
def files(version: str) -> dict[str, bytes]:
    """The files of an archive by their paths in it, ``NAME/train.pdmodel`` and so on."""
    with tarfile.open(SAVED / f"{version}.tar.xz") as archive:
        members = [m for m in archive if m.isfile()]
        return {m.name: archive.extractfile(m).read() for m in members}  # type: ignore[union-attr]


def names(version: str) -> list[str]:
    """The programs in an archive."""
    return sorted({path.partition("/")[0] for path in files(version)})


def unpacked(version: str, name: str, folder: Path) -> Path:
    """A folder with the files of one program."""
    for path, data in files(version).items():
        if path.startswith(f"{name}/"):
            (folder / path.partition("/")[2]).write_bytes(data)
    return folder


def values(version: str, name: str) -> dict[str, Any]:
    """What the program was fed, and what Paddle computed: ``feed/x``, ``loss``, ``inferred``, ``grad/w``."""
    with np.load(io.BytesIO(files(version)[f"{name}/values.npz"])) as arrays:
        return dict(arrays)
