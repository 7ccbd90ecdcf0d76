"""Compare transforms with what was recorded from Paddle; those of arrays that OpenCV computes where it is installed.

Run as ``python -m tests.paddle.vision.transforms.compare_transforms [WORD]``, for calls with the word.
"""

from __future__ import annotations

import importlib.util
import json
import sys
from collections.abc import Iterator
from typing import Any

from gradtool import paddle
from gradtool.paddle.vision import transforms
from gradtool.paddle.vision.transforms import functional

from . import record_transforms

RECORDED: dict[str, Any] = json.loads(record_transforms.OUT.read_text(encoding="utf-8"))

OF_OPENCV = ("resize", "Resized", "saturation", "Saturation", "hue", "Hue", "Jitter", "affine", "Affine", "rotate")
OF_OPENCV += ("Rotation", "perspective", "Perspective", "gray", "Gray")

ROUNDED = ("adjust_hue", "HueTransform", "resize", "ResizedCrop", "CenterCrop")
"""Whose bytes may differ by one in a tensor: Paddle rounds in another order."""


def needs_opencv(call: str, kind: str) -> bool:
    return kind.startswith("array") and any(word in call for word in OF_OPENCV)


def differences(call: str, *, with_opencv: bool) -> Iterator[str]:
    """What is other than in Paddle; what Paddle refuses may be computed here."""
    for kind, image in record_transforms.images(paddle).items():
        expected = RECORDED[call][kind]
        if expected is None or (needs_opencv(call, kind) and not with_opencv):
            continue
        came = record_transforms.outcome(paddle, transforms, functional, call, image)
        if came is None or came[:3] != expected[:3] or not _near(call, kind, came, expected):
            yield f"{call} of {kind}: {came}, not {expected}"


def _near(call: str, kind: str, came: list[Any], expected: list[Any]) -> bool:
    rounded = kind == "tensor of bytes" and any(word in call for word in ROUNDED)
    size = 1
    for n in expected[1]:
        size *= n
    room = 0.1 * size if rounded else 2e-5 * size + 1e-6 * abs(expected[3])
    return all(abs(a - b) <= room for a, b in zip(came[3:], expected[3:], strict=True))


if __name__ == "__main__":
    word = sys.argv[1] if len(sys.argv) > 1 else ""
    with_opencv = importlib.util.find_spec("cv2") is not None
    print("with OpenCV" if with_opencv else "without OpenCV")
    found = [d for call in RECORDED if word in call for d in differences(call, with_opencv=with_opencv)]
    print(*found, f"{len(found)} differences", sep="\n")
    sys.exit(bool(found))
