"""MNIST (LeCun et al. 1998) and FashionMNIST (Xiao et al. 2017)."""

from __future__ import annotations

import gzip
import zlib
from typing import Any, ClassVar

import numpy as np

from gradtool.engine.core.errors import FileFormatError

from ._images import ImageDataset
from ._published import Published, check_mode

__all__ = ["MNIST", "FashionMNIST"]

HOME = "https://dataset.bj.bcebos.com"
IMAGES, LABELS = 2051, 2049
"""The numbers that files of images and of labels begin with."""


def _numbers(path: str, magic: int, rank: int) -> Any:
    """The array of bytes in a file of LeCun's form, compressed by gzip."""
    expected = f"a gzip file of {'images' if magic == IMAGES else 'labels'} in the form of MNIST"
    try:
        with gzip.open(path, "rb") as file:
            data = file.read()
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise FileFormatError(path, expected, f"it cannot be unpacked: {error}") from None
    if len(data) < 4 * (rank + 1):
        raise FileFormatError(path, expected, f"it has {len(data)} bytes")
    first, *shape = (int(n) for n in np.frombuffer(data, ">u4", rank + 1))
    if first != magic:
        raise FileFormatError(path, expected, f"it begins with {first}, not with {magic}")
    numbers = np.frombuffer(data, np.uint8, offset=4 * (rank + 1))
    size = 1
    for n in shape:
        size *= n
    if numbers.size < size:
        raise FileFormatError(path, expected, f"it holds {numbers.size} numbers, not the {size} that it says")
    return numbers[:size].reshape(shape)


class MNIST(ImageDataset):
    """Handwritten digits, 28 by 28 pixels: items are an image and its label, ``[1]`` of type int64.

    Args:
        image_path, label_path: the files; those that Paddle downloads if None, from where it puts them.
        mode: ``train`` or ``test``.
        transform: what is called with each image.
        download: gradtool downloads nothing; False refuses at once where no file is named.
        backend: ``pil`` or ``cv2``, see :class:`ImageDataset`.

    Raises:
        FileMissing: a file is not there; the message says where to put it (a FileNotFoundError).
        FileFormatError: it is another kind of file (a ValueError).
        NotGiven: no file and no download, or another mode (an AssertionError).
    """

    NAME: ClassVar[str] = "mnist"
    FILES: ClassVar[dict[str, tuple[Published, Published]]] = {
        "train": (
            Published(f"{HOME}/mnist/train-images-idx3-ubyte.gz", "f68b3c2dcbeaaa9fbdd348bbdeb94873", "mnist"),
            Published(f"{HOME}/mnist/train-labels-idx1-ubyte.gz", "d53e105ee54ea40749a09fcbcd1e9432", "mnist"),
        ),
        "test": (
            Published(f"{HOME}/mnist/t10k-images-idx3-ubyte.gz", "9fb629c4189551a2d022fa330f9573f3", "mnist"),
            Published(f"{HOME}/mnist/t10k-labels-idx1-ubyte.gz", "ec29112dd5afa0611ce80d1b7f02629c", "mnist"),
        ),
    }

    def __init__(
        self,
        image_path: str | None = None,
        label_path: str | None = None,
        mode: str = "train",
        transform: Any = None,
        download: bool = True,
        backend: str | None = None,
    ) -> None:
        self.mode = check_mode(mode, ("train", "test"))
        super().__init__(transform, backend)
        images, labels = self.FILES[self.mode]
        self.image_path = images.path(image_path, "image_path", download)
        self.label_path = labels.path(label_path, "label_path", download)
        self.images = _numbers(self.image_path, IMAGES, 3)
        self.labels = _numbers(self.label_path, LABELS, 1).astype("int64").reshape(-1, 1)
        if len(self.images) != len(self.labels):
            found = f"it has {len(self.labels)} labels, and {self.image_path} {len(self.images)} images"
            raise FileFormatError(self.label_path, "a label for each image", found)

    def __getitem__(self, idx: int) -> tuple[Any, Any]:
        image = self._changed(self._of_pixels(self.images[idx]))
        return self._typed(image), self.labels[idx]

    def __len__(self) -> int:
        return len(self.labels)


class FashionMNIST(MNIST):
    """Pieces of clothing in the form of :class:`MNIST`, whose arguments these are."""

    NAME = "fashion-mnist"
    FILES: ClassVar[dict[str, tuple[Published, Published]]] = {
        "train": (
            Published(
                f"{HOME}/fashion_mnist/train-images-idx3-ubyte.gz", "8d4fb7e6c68d591d4c3dfef9ec88bf0d", "fashion-mnist"
            ),
            Published(
                f"{HOME}/fashion_mnist/train-labels-idx1-ubyte.gz", "25c81989df183df01b3e8a0aad5dffbe", "fashion-mnist"
            ),
        ),
        "test": (
            Published(
                f"{HOME}/fashion_mnist/t10k-images-idx3-ubyte.gz", "bef4ecab320f06d8554ea6380940ec79", "fashion-mnist"
            ),
            Published(
                f"{HOME}/fashion_mnist/t10k-labels-idx1-ubyte.gz", "bb300cfdad3c16e7a12a480ee83cd310", "fashion-mnist"
            ),
        ),
    }
