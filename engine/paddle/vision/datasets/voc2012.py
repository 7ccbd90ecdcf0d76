"""VOC2012: photographs, and which kind of thing each pixel shows (Everingham et al. 2012)."""

from __future__ import annotations

from typing import Any

from ._archives import Archive
from ._images import ImageDataset
from ._published import Published, check_mode

__all__ = ["VOC2012"]

FILE = Published(
    "https://dataset.bj.bcebos.com/voc/VOCtrainval_11-May-2012.tar", "6cd6e144f989b92b3379bac3b3de84fd", "voc2012"
)
FOLDER = "VOCdevkit/VOC2012"
PARTS = {"train": "trainval", "test": "train", "valid": "val"}
"""Which list of the archive each mode reads, as in Paddle."""


class VOC2012(ImageDataset):
    """Photographs with a label for each pixel: items are two images.

    Args:
        data_file: the archive; the one that Paddle downloads if None, from where it puts it.
        mode: ``train``, ``valid`` or ``test``.
        transform: what is called with each photograph.
        download: gradtool downloads nothing; False refuses at once where no file is named.
        backend: ``pil`` or ``cv2``, see :class:`ImageDataset`.

    Raises:
        FileMissing: the file is not there; the message says where to put it (a FileNotFoundError).
        FileFormatError: it is another kind of file (a ValueError).
        NotGiven: no file and no download, or another mode (an AssertionError).
    """

    def __init__(
        self,
        data_file: str | None = None,
        mode: str = "train",
        transform: Any = None,
        download: bool = True,
        backend: str | None = None,
    ) -> None:
        self.flag = PARTS[check_mode(mode, ("train", "valid", "test"))]
        super().__init__(transform, backend)
        self.data_file = FILE.path(data_file, "data_file", download)
        self._archive = Archive(self.data_file)
        names = self._archive.read(f"{FOLDER}/ImageSets/Segmentation/{self.flag}.txt").decode().split()
        self.data = [f"{FOLDER}/JPEGImages/{name}.jpg" for name in names]
        self.labels = [f"{FOLDER}/SegmentationClass/{name}.png" for name in names]

    def __getitem__(self, idx: int) -> tuple[Any, Any]:
        image = self._changed(self._of_file(self._archive.read(self.data[idx])))
        return self._typed(image), self._typed(self._of_file(self._archive.read(self.labels[idx])))

    def __len__(self) -> int:
        return len(self.data)
