"""``paddle.vision.ops``: regions of images, boxes around what is seen, and convolutions that read where they like."""

from __future__ import annotations

from gradtool.paddle import _lazy

__getattr__, __dir__ = _lazy.attach(__name__)
