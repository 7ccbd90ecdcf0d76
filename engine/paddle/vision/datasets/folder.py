"""Data sets that are folders of files."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from gradtool.engine.core.errors import UsageError
from gradtool.paddle import get_default_dtype
from gradtool.paddle.io._datasets import Dataset

from .._packages import opencv, pillow
from ..image import get_image_backend

__all__ = ["DatasetFolder", "ImageFolder"]

IMAGES = IMG_EXTENSIONS = (".jpg", ".jpeg", ".png", ".ppm", ".bmp", ".pgm", ".tif", ".tiff", ".webp")


class NoFiles(UsageError, RuntimeError):
    """There is nothing in a folder that could be read (Paddle raises RuntimeError)."""


def cv2_loader(path: str) -> Any:
    """Return the image in that file as an array of height, width and RGB, read with OpenCV."""
    cv = opencv("backend cv2")
    return cv.cvtColor(cv.imread(path), cv.COLOR_BGR2RGB)


def pil_loader(path: str) -> Any:
    """Return the image in that file, read with Pillow and converted to RGB."""
    with open(path, "rb") as file:
        return pillow().open(file).convert("RGB")


def default_loader(path: str) -> Any:
    """Return the image in that file, read with what :func:`paddle.vision.set_image_backend` chose."""
    return cv2_loader(path) if get_image_backend() == "cv2" else pil_loader(path)


def has_valid_extension(filename: str, extensions: Sequence[str]) -> bool:
    """Return True for a name that ends with one of *extensions*, in capitals or not."""
    return filename.lower().endswith(tuple(e.lower() for e in extensions))


def make_dataset(
    dir: str,
    class_to_idx: dict[str, int],
    extensions: Sequence[str] | None,
    is_valid_file: Callable[[str], bool] | None = None,
) -> list[tuple[str, int]]:
    """Return the files below the folder of each class, each with the number of the class.

    Args:
        dir: the folder with a folder for each class.
        class_to_idx: by the name of a folder, the number of its class.
        extensions: the ends of names that count; None where *is_valid_file* says so.
        is_valid_file: called with a path.
    """
    counts = is_valid_file if extensions is None else _counts(tuple(e.lower() for e in extensions))
    assert counts is not None, "extensions or is_valid_file"
    root = os.path.expanduser(dir)
    return [
        (path, class_to_idx[name]) for name in sorted(class_to_idx) for path in _files(os.path.join(root, name), counts)
    ]


def _files(folder: str, counts: Callable[[str], bool]) -> Iterator[str]:
    for place, _, names in sorted(os.walk(folder, followlinks=True)):
        for name in sorted(names):
            path = os.path.join(place, name)
            if counts(path):
                yield path


def _counts(extensions: Sequence[str]) -> Callable[[str], bool]:
    endings = tuple(extensions)
    return lambda path: path.lower().endswith(endings)


def _nothing(what: str, root: str, extensions: Sequence[str]) -> NoFiles:
    return NoFiles(f"Found 0 {what} in subfolders of: {root}\nSupported extensions are: {','.join(extensions)}")


class DatasetFolder(Dataset):
    """Files in a folder for each class: items are what *loader* gives, and the number of the class.

    Args:
        root: the folder; its folders are the classes, in the order of their names.
        loader: called with a path; images by the backend, converted to RGB, if None.
        extensions: what names end with; those of images if None.
        transform: what is called with each image.
        is_valid_file: without influence, as in Paddle, where *extensions* decide.

    Raises:
        NoFiles: there are no classes or no files (a RuntimeError).
    """

    def __init__(
        self,
        root: str,
        loader: Callable[[str], Any] | None = None,
        extensions: Sequence[str] | None = None,
        transform: Any = None,
        is_valid_file: Callable[[str], bool] | None = None,
    ) -> None:
        self.root, self.transform = root, transform
        self.extensions = IMAGES if extensions is None else extensions
        self.classes = sorted(entry.name for entry in os.scandir(root) if entry.is_dir())
        if not self.classes:
            raise _nothing("directories", root, self.extensions)
        self.class_to_idx = {name: i for i, name in enumerate(self.classes)}
        counts = _counts(self.extensions)
        self.samples = [
            (path, i) for name, i in self.class_to_idx.items() for path in _files(os.path.join(root, name), counts)
        ]
        if not self.samples:
            raise _nothing("files", root, self.extensions)
        self.loader = default_loader if loader is None else loader
        self.targets = [i for _, i in self.samples]
        self.dtype = get_default_dtype()

    def __getitem__(self, index: int) -> tuple[Any, int]:
        path, target = self.samples[index]
        sample = self.loader(path)
        return sample if self.transform is None else self.transform(sample), target

    def __len__(self) -> int:
        return len(self.samples)


class ImageFolder(Dataset):
    """Files in a folder and in those below it: items are lists of one image.

    The arguments are those of :class:`DatasetFolder`.

    Raises:
        NoFiles: there are no files (a RuntimeError).
    """

    def __init__(
        self,
        root: str,
        loader: Callable[[str], Any] | None = None,
        extensions: Sequence[str] | None = None,
        transform: Any = None,
        is_valid_file: Callable[[str], bool] | None = None,
    ) -> None:
        self.root, self.transform = root, transform
        self.extensions = IMAGES if extensions is None else extensions
        self.samples = [*_files(root, _counts(self.extensions))]
        if not self.samples:
            raise _nothing("files", root, self.extensions)
        self.loader = default_loader if loader is None else loader

    def __getitem__(self, index: int) -> list[Any]:
        sample = self.loader(self.samples[index])
        return [sample if self.transform is None else self.transform(sample)]

    def __len__(self) -> int:
        return len(self.samples)
