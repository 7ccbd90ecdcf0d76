"""The packages that images are read and changed with, where they are installed."""

from __future__ import annotations

import importlib
from typing import Any

from gradtool.engine.core.errors import UsageError


class PackageMissing(UsageError, ImportError):
    """A package that is needed only for this is not installed."""


def pillow(module: str = "Image") -> Any:
    """Return that module of Pillow.

    Raises:
        PackageMissing: it is not installed (an ImportError).
    """
    return _package(f"PIL.{module}", "images of PIL need Pillow", "pip install 'gradtool[images]'")


def opencv(what: str) -> Any:
    """OpenCV, for *what*.

    Raises:
        PackageMissing: it is not installed (an ImportError).
    """
    hint = "pip install opencv-python-headless, or take images of PIL or tensors"
    return _package("cv2", f"{what} needs OpenCV, as in Paddle", hint)


def _package(name: str, needs: str, hint: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError:
        raise PackageMissing(f"{needs}, which is not installed", hint=hint) from None
