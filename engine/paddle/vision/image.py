"""Libraries that read images: Pillow or OpenCV."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from gradtool.engine.core import settings
from gradtool.engine.core.errors import UsageError

from ._packages import opencv, pillow

__all__ = ["get_image_backend", "image_load", "set_image_backend"]

BACKENDS = ("pil", "cv2", "tensor")

_backend = "pil"


def set_image_backend(backend: str) -> None:
    """Say what images are read with from now on: ``pil`` or ``cv2``; ``tensor`` can be said, and reads nothing.

    Raises:
        UsageError: another backend (a ValueError).
    """
    global _backend
    _backend = _checked(backend)


@settings.register_setting
def _as_it_was() -> Callable[[], None]:
    return partial(set_image_backend, _backend)


def get_image_backend() -> str:
    """Return the library that reads images; ``pil`` until :func:`set_image_backend` says otherwise."""
    return _backend


def image_load(path: str, backend: str | None = None) -> Any:
    """The image in a file: of PIL, or with ``cv2`` an array ``[height, width, 3]``, blue first.

    Args:
        backend: ``pil`` or ``cv2``; None for what :func:`get_image_backend` says.

    Raises:
        UsageError: another backend (a ValueError).
        PackageMissing: it is not installed (an ImportError).
        OSError: the file cannot be read.
    """
    backend = get_image_backend() if backend is None else _checked(backend)
    if backend == "tensor":
        raise UsageError(
            "image_load reads nothing with backend 'tensor' (in Paddle the result is None)",
            hint="paddle.vision.transforms.to_tensor(image_load(path, backend='pil'))",
        )
    if backend == "pil":
        image = pillow().open(path)
        image.load()  # which closes the file
        return image
    image = opencv("backend cv2").imread(path)
    if image is None:
        raise FileNotFoundError(f"{path} cannot be read as an image")
    return image


def _checked(backend: str) -> str:
    if backend not in BACKENDS:
        raise UsageError(f"Expected backend are one of ['pil', 'cv2', 'tensor'], but got {backend}")
    return backend
