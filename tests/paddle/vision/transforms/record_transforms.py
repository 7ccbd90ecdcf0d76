"""What transforms of ``paddle.vision`` make of images of all kinds, drawn ones from seeded generators.

Run with an interpreter that has Paddle 3.3.1, Pillow and OpenCV, from the top of the repository::

    PADDLE/bin/python tests/paddle/vision/transforms/record_transforms.py
"""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import numpy as np

OUT = Path(__file__).with_name("transforms.json")

CORNERS = "[[0, 0], [15, 0], [15, 11], [0, 11]], [[1.25, 1.5], [14.5, 2.25], [13.25, 10.5], [2.5, 9.25]]"

CALLS = [
    "F.to_tensor(i)",
    "F.to_tensor(i, 'HWC')",
    "F.resize(i, (6, 9))",
    "F.resize(i, 6)",
    "F.resize(i, 12)",
    "F.resize(i, 20, 'nearest')",
    "F.resize(i, (9, 7), 'bicubic')",
    "F.pad(i, 2)",
    "F.pad(i, (1, 2, 3, 4), 7)",
    "F.pad(i, 2, (1, 2, 3))",
    "F.pad(i, (1, 2), padding_mode='reflect')",
    "F.pad(i, (1, 2), padding_mode='edge')",
    "F.pad(i, (1, 2), padding_mode='symmetric')",
    "F.crop(i, 1, 2, 5, 6)",
    "F.center_crop(i, 6)",
    "F.center_crop(i, (5, 7))",
    "F.hflip(i)",
    "F.vflip(i)",
    "F.adjust_brightness(i, 0.7)",
    "F.adjust_brightness(i, 1.6)",
    "F.adjust_contrast(i, 0.7)",
    "F.adjust_contrast(i, 1.5)",
    "F.adjust_saturation(i, 0.7)",
    "F.adjust_saturation(i, 1.7)",
    "F.adjust_hue(i, 0.2)",
    "F.adjust_hue(i, -0.3)",
    "F.affine(i, 20, (1, 2), 0.9, (5, 5))",
    "F.affine(i, 20, (1, 2), 0.9, (5, -3), 'bilinear')",
    "F.affine(i, -40, (0, 0), 1.1, (8, 0), fill=9)",
    "F.affine(i, 20, (1, 2), 1.0, (0, 0), center=(3, 4))",
    "F.affine(i, 20, (0, 0), 1.0, 10)",
    "F.rotate(i, 30)",
    "F.rotate(i, -50, 'bilinear')",
    "F.rotate(i, 30, expand=True)",
    "F.rotate(i, 30, center=(3, 4))",
    "F.rotate(i, 90)",
    "F.rotate(i, 30, fill=9)",
    "F.rotate(i, -70, 'bilinear', expand=True)",
    f"F.perspective(i, {CORNERS})",
    f"F.perspective(i, {CORNERS}, 'bilinear')",
    "F.to_grayscale(i)",
    "F.to_grayscale(i, 3)",
    "F.normalize(i, [0.5] * 3, [0.5, 0.4, 0.3])",
    "F.normalize(i, [0.5] * 3, [0.5, 0.4, 0.3], 'HWC')",
    "F.normalize(i, [0.5] * 3, [0.5, 0.4, 0.3], 'HWC', to_rgb=True)",
    "F.erase(i, 1, 2, 3, 4, 0)",
    "T.RandomHorizontalFlip()(i)",
    "T.RandomVerticalFlip()(i)",
    "T.RandomCrop(6)(i)",
    "T.RandomCrop((6, 8), padding=2)(i)",
    "T.RandomCrop(20, pad_if_needed=True)(i)",
    "T.RandomResizedCrop(8)(i)",
    "T.RandomResizedCrop(8, ratio=(5, 6))(i)",
    "T.RandomRotation(20)(i)",
    "T.RandomAffine(20, (0.1, 0.2), (0.8, 1.2), (1, 9))(i)",
    "T.RandomAffine((1, 2), shear=(1, 2, 3, 4))(i)",
    "T.RandomPerspective(1.0)(i)",
    "T.RandomErasing(1.0)(i)",
    "T.RandomErasing(1.0, value=(1, 2, 3))(i)",
    "T.RandomErasing(1.0, scale=(0.9, 1.0))(i)",
    "T.BrightnessTransform(0.4)(i)",
    "T.ContrastTransform(0.4)(i)",
    "T.SaturationTransform(0.4)(i)",
    "T.HueTransform(0.2)(i)",
    "T.ColorJitter(0.4, 0.3, 0.2, 0.1)(i)",
    "T.Normalize()(i)",
    "T.Transpose()(i)",
    "T.Grayscale(3)(i)",
    "T.CenterCrop(5)(i)",
    "T.Pad(1)(i)",
    "T.Compose([T.RandomCrop(10), T.ToTensor(), T.Normalize(0.5, 0.5)])(i)",
]

DRAWS = np.random.RandomState(0)
PIXELS = DRAWS.randint(0, 256, (12, 16, 3)).astype("uint8")
NUMBERS = DRAWS.rand(12, 16, 3).astype("float32")


def images(paddle: Any) -> dict[str, Any]:
    from PIL import Image

    return {
        "PIL RGB": Image.fromarray(PIXELS),
        "PIL L": Image.fromarray(PIXELS[:, :, 0].copy()),
        "array": PIXELS.copy(),
        "array without channels": PIXELS[:, :, 0].copy(),
        "array of numbers": NUMBERS.copy(),
        "tensor": paddle.to_tensor(NUMBERS.transpose(2, 0, 1).copy()),
        "tensor of bytes": paddle.to_tensor(PIXELS.transpose(2, 0, 1).copy()),
    }


def outcome(paddle: Any, transforms: Any, functional: Any, call: str, image: Any) -> list[Any] | None:
    """Class, shape, type and two sums of the result; None where the call is refused."""
    random.seed(5)
    np.random.seed(5)
    try:
        out = eval(call, {"F": functional, "T": transforms, "i": image})
    except Exception:
        return None
    mode = out.mode if type(out).__name__ == "Image" else ""
    values = np.asarray(out.numpy() if isinstance(out, paddle.Tensor) else out)
    flat = values.astype("float64").reshape(-1)
    weighed = float(flat @ np.cos(np.arange(flat.size)))
    kind = f"{type(out).__name__}{mode}"
    return [kind, list(values.shape), values.dtype.name, float(f"{flat.sum():.8g}"), float(f"{weighed:.8g}")]


if __name__ == "__main__":
    import paddle
    from paddle.vision import transforms
    from paddle.vision.transforms import functional

    rows = {}
    for call in CALLS:
        every = {kind: outcome(paddle, transforms, functional, call, i) for kind, i in images(paddle).items()}
        rows[call] = every
    OUT.write_text("{" + ",\n".join(f"{json.dumps(c)}:{json.dumps(r)}" for c, r in rows.items()) + "}\n")
