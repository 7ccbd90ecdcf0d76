"""Small files in the forms in which data sets of images were published."""

from __future__ import annotations

import gzip
import io
import pickle
import struct
import tarfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

DRAWS = np.random.RandomState(0)


def picture(form: str, *shape: int) -> bytes:
    file = io.BytesIO()
    Image.fromarray(DRAWS.randint(0, 20, shape).astype("uint8")).save(file, form)
    return file.getvalue()


def digits(folder: Path, count: int = 3) -> tuple[str, str, Any]:
    """A file of images, one of labels, and the images."""
    images = DRAWS.randint(0, 256, (count, 28, 28)).astype("uint8")
    files = (folder / "images.gz", folder / "labels.gz")
    files[0].write_bytes(gzip.compress(struct.pack(">IIII", 2051, count, 28, 28) + images.tobytes()))
    files[1].write_bytes(gzip.compress(struct.pack(">II", 2049, count) + bytes(range(count))))
    return str(files[0]), str(files[1]), images


def archive(path: Path, files: dict[str, bytes]) -> str:
    with tarfile.open(path, "w:gz") as file:
        for name, data in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            file.addfile(member, io.BytesIO(data))
    return str(path)


def batch(count: int, labels: str, first: int = 0) -> bytes:
    pixels = np.full((count, 3072), first, np.uint8)
    return pickle.dumps({b"data": pixels, labels.encode(): [first + i for i in range(count)]}, protocol=2)


def matlab(path: Path, arrays: dict[str, Any], *, packed: bool) -> str:
    def element(kind: int, data: bytes) -> bytes:
        return struct.pack("<II", kind, len(data)) + data + b"\0" * (-len(data) % 8)

    out = b"MATLAB 5.0 MAT-file".ljust(124) + struct.pack("<H", 0x100) + b"IM"
    for name, array in arrays.items():
        flags, shape = struct.pack("<II", 6, 0), struct.pack("<ii", *array.shape)
        code = {"uint8": 2, "uint16": 4, "float64": 9}[array.dtype.name]
        short = (
            struct.pack("<HH", 1, len(name)) + name.encode().ljust(4) if len(name) <= 4 else element(1, name.encode())
        )
        body = element(6, flags) + element(5, shape) + short + element(code, array.tobytes(order="F"))
        matrix = element(14, body)
        if packed:
            content = zlib.compress(matrix)
            matrix = struct.pack("<II", 15, len(content)) + content
        out += matrix
    path.write_bytes(out)
    return str(path)
