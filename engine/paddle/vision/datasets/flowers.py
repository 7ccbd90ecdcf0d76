"""Flowers of 102 kinds (Nilsback and Zisserman 2008)."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtool.engine.core.errors import FileFormatError

from . import _matlab
from ._archives import Archive
from ._images import ImageDataset
from ._published import Published, check_mode

__all__ = ["Flowers"]

HOME = "http://paddlemodels.bj.bcebos.com/flowers"
DATA = Published(f"{HOME}/102flowers.tgz", "52808999861908f626f3c1f4e79d11fa", "flowers")
LABELS = Published(f"{HOME}/imagelabels.mat", "e0620be6f572b9609742df49c70aed4d", "flowers")
SETS = Published(f"{HOME}/setid.mat", "a5357ecc9cb78c4bef273ce3793fc85c", "flowers")

PARTS = {"train": "tstid", "test": "trnid", "valid": "valid"}
"""Which numbers belong to each mode: the larger part is what one trains with, as in Paddle."""


class Flowers(ImageDataset):
    """Photographs of flowers: items are an image and its label, ``[1]`` of type int64, counted from 1.

    Args:
        data_file, label_file, setid_file: the files; those that Paddle downloads if None, from where it puts them.
        mode: ``train``, ``valid`` or ``test``.
        transform: what is called with each image.
        download: gradtool downloads nothing; False refuses at once where no file is named.
        backend: ``pil`` or ``cv2``, see :class:`ImageDataset`.

    Raises:
        FileMissing: a file is not there; the message says where to put it (a FileNotFoundError).
        FileFormatError: it is another kind of file (a ValueError).
        NotGiven: no file and no download, or another mode (an AssertionError).
    """

    def __init__(
        self,
        data_file: str | None = None,
        label_file: str | None = None,
        setid_file: str | None = None,
        mode: str = "train",
        transform: Any = None,
        download: bool = True,
        backend: str | None = None,
    ) -> None:
        part = PARTS[check_mode(mode, ("train", "valid", "test"))]
        super().__init__(transform, backend)
        self._archive = Archive(DATA.path(data_file, "data_file", download))
        labels = LABELS.path(label_file, "label_file", download)
        sets = SETS.path(setid_file, "setid_file", download)
        self.labels = _row(labels, "labels")
        self.indexes = _row(sets, part)
        if self.indexes.size and not 1 <= self.indexes.min() <= self.indexes.max() <= self.labels.size:
            raise FileFormatError(sets, f"numbers from 1 to {self.labels.size}", f"{part} has others")

    def __getitem__(self, idx: int) -> tuple[Any, Any]:
        number = int(self.indexes[idx])
        label = np.array([self.labels[number - 1]]).astype("int64")
        image = self._changed(self._of_file(self._archive.read(f"jpg/image_{number:05d}.jpg")))
        return self._typed(image), label

    def __len__(self) -> int:
        return len(self.indexes)


def _row(path: str, name: str) -> Any:
    arrays = _matlab.arrays(path)
    if name not in arrays:
        raise FileFormatError(path, f"an array {name}", f"it has {', '.join(arrays) or 'no array'}")
    return arrays[name].reshape(-1)
