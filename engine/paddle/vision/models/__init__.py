"""``paddle.vision.models``: networks that classify images."""

from __future__ import annotations

from gradtool.paddle import _lazy

# Functions that are named as their files: whoever imported such a file later would find the module under that name.
from .alexnet import alexnet as alexnet
from .googlenet import googlenet as googlenet

__getattr__, __dir__ = _lazy.attach(__name__)
