"""CIFAR-10 and CIFAR-100 (Krizhevsky 2009)."""

from __future__ import annotations

import io
from typing import Any, ClassVar

import numpy as np

from gradtool.engine.core.errors import FileFormatError
from gradtool.engine.files import pickles

from ._archives import Archive
from ._images import ImageDataset
from ._published import Published, check_mode

__all__ = ["Cifar10", "Cifar100"]

EXPECTED = "an archive of CIFAR's images, in the version for Python"


class Cifar10(ImageDataset):
    """Images of ten kinds of things, 32 by 32 pixels: items are an image and its label, of type int64.

    What the archive holds is read without running any of it.

    Args:
        data_file: the archive; the one that Paddle downloads if None, from where it puts it.
        mode: ``train`` or ``test``.
        transform: what is called with each image.
        download: gradtool downloads nothing; False refuses at once where no file is named.
        backend: ``pil`` or ``cv2``, see :class:`ImageDataset`.

    Raises:
        FileMissing: the file is not there; the message says where to put it (a FileNotFoundError).
        FileFormatError: it is another kind of file (a ValueError).
        NotGiven: no file and no download, or another mode (an AssertionError).
    """

    FILE: ClassVar[Published] = Published(
        "https://dataset.bj.bcebos.com/cifar/cifar-10-python.tar.gz", "c58f30108f718f92721af3b95e74349a", "cifar"
    )
    PARTS: ClassVar[dict[str, str]] = {"train": "data_batch", "test": "test_batch"}
    LABELS: ClassVar[str] = "labels"

    def __init__(
        self,
        data_file: str | None = None,
        mode: str = "train",
        transform: Any = None,
        download: bool = True,
        backend: str | None = None,
    ) -> None:
        self.mode = check_mode(mode, ("train", "test"))
        super().__init__(transform, backend)
        self.data_file = self.FILE.path(data_file, "data_file", download)
        self.flag = self.PARTS[self.mode]
        archive = Archive(self.data_file)
        self.data: list[tuple[Any, Any]] = []
        for name in sorted(n for n in archive.names() if self.flag in n):
            self.data.extend(self._part(archive, name))
        if not self.data:
            raise FileFormatError(self.data_file, EXPECTED, f"there is no {self.flag} in it")

    def _part(self, archive: Archive, name: str) -> Any:
        place = f"{self.data_file}: {name}"
        content = pickles.read(io.BytesIO(archive.read(name)), place)
        if not isinstance(content, dict):
            raise FileFormatError(place, EXPECTED, f"it holds a {type(content).__name__}, not a dict")
        batch = {key.decode() if isinstance(key, bytes) else key: value for key, value in content.items()}
        pixels, labels = batch.get("data"), batch.get(self.LABELS)
        if not isinstance(pixels, np.ndarray) or pixels.shape[1:] != (3072,) or pixels.dtype != np.uint8:
            raise FileFormatError(place, EXPECTED, "it has no array of images under data")
        if not isinstance(labels, list) or len(labels) != len(pixels):
            raise FileFormatError(place, EXPECTED, f"it has no label for each image under {self.LABELS}")
        return zip(pixels, labels, strict=True)

    def __getitem__(self, idx: int) -> tuple[Any, Any]:
        pixels, label = self.data[idx]
        image = pixels.reshape(3, 32, 32).transpose(1, 2, 0)
        return self._typed(self._changed(self._of_pixels(image))), np.array(label).astype("int64")

    def __len__(self) -> int:
        return len(self.data)


class Cifar100(Cifar10):
    """Images of a hundred kinds of things; the arguments are those of :class:`Cifar10`."""

    FILE: ClassVar[Published] = Published(
        "https://dataset.bj.bcebos.com/cifar/cifar-100-python.tar.gz", "eb9058c3a382ffc7106e4002c42a8d85", "cifar"
    )
    PARTS: ClassVar[dict[str, str]] = {"train": "train", "test": "test"}
    LABELS = "fine_labels"
