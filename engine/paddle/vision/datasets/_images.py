"""Items of data sets with images: images of PIL or arrays, by the backend."""

from __future__ import annotations

import io
from typing import Any

import numpy as np

from gradtool.engine.core.errors import UsageError
from gradtool.paddle import get_default_dtype
from gradtool.paddle.io._datasets import Dataset

from .._packages import pillow
from ..image import get_image_backend


class ImageDataset(Dataset):
    """A data set of images.

    Args:
        backend: ``pil`` for images of PIL, ``cv2`` for arrays of type float32; None for what
            ``paddle.vision.get_image_backend`` says.

    Raises:
        UsageError: another backend (a ValueError).
    """

    def __init__(self, transform: Any, backend: str | None) -> None:
        backend = get_image_backend() if backend is None else backend
        if backend not in ("pil", "cv2"):
            raise UsageError(f"Expected backend are one of ['pil', 'cv2'], but got {backend}")
        self.backend, self.transform = backend, transform
        self.dtype = get_default_dtype()

    def _changed(self, image: Any) -> Any:
        return image if self.transform is None else self.transform(image)

    def _of_pixels(self, pixels: Any) -> Any:
        """The image of an array of type uint8."""
        return pillow().fromarray(pixels) if self.backend == "pil" else pixels

    def _of_file(self, data: bytes) -> Any:
        """The image in a file's bytes."""
        image = pillow().open(io.BytesIO(data))
        return image if self.backend == "pil" else np.array(image)

    def _typed(self, image: Any) -> Any:
        """With backend ``cv2``, numbers in the default type."""
        return image.astype(self.dtype) if self.backend == "cv2" else image
