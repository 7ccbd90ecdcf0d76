"""AlexNet (Krizhevsky, Sutskever and Hinton 2012)."""

from __future__ import annotations

import math
from typing import Any

from gradtool import paddle
from gradtool.paddle import nn
from gradtool.paddle.nn import functional as F
from gradtool.paddle.nn.initializer import Uniform
from gradtool.paddle.nn.layer import Layer

from ._weights import weighted

__all__ = ["AlexNet", "alexnet"]


def _spread(inputs: int) -> dict[str, Any]:
    """Weight and bias drawn evenly within ``±1/√inputs``."""
    bound = 1 / math.sqrt(inputs)
    return {name: paddle.ParamAttr(initializer=Uniform(-bound, bound)) for name in ("weight_attr", "bias_attr")}


class ConvPoolLayer(Layer):
    """A convolution, ``relu``, and the maxima of 3 by 3 pixels, every other one."""

    def __init__(self, channels: int, filters: int, window: int, stride: int, padding: int) -> None:
        super().__init__()
        self.relu = nn.ReLU()
        self._conv = nn.Conv2D(channels, filters, window, stride, padding, **_spread(channels * window * window))
        self._pool = nn.MaxPool2D(3, 2)

    def forward(self, inputs: Any) -> Any:
        return self._pool(self.relu(self._conv(inputs)))


class AlexNet(Layer):
    """AlexNet, for images of 224 by 224 pixels.

    Args:
        num_classes: how many scores come out; 0 for the features, ``[batch, 256, 6, 6]``.
    """

    def __init__(self, num_classes: int = 1000) -> None:
        super().__init__()
        self.num_classes = num_classes
        self._conv1 = ConvPoolLayer(3, 64, 11, 4, 2)
        self._conv2 = ConvPoolLayer(64, 192, 5, 1, 2)
        self._conv3 = nn.Conv2D(192, 384, 3, stride=1, padding=1, **_spread(192 * 9))
        self._conv4 = nn.Conv2D(384, 256, 3, stride=1, padding=1, **_spread(384 * 9))
        self._conv5 = ConvPoolLayer(256, 256, 3, 1, 1)
        if num_classes > 0:
            features = 256 * 6 * 6  # what all three are spread by
            self._drop1 = nn.Dropout(p=0.5, mode="downscale_in_infer")
            self._fc6 = nn.Linear(features, 4096, **_spread(features))
            self._drop2 = nn.Dropout(p=0.5, mode="downscale_in_infer")
            self._fc7 = nn.Linear(4096, 4096, **_spread(features))
            self._fc8 = nn.Linear(4096, num_classes, **_spread(features))

    def forward(self, inputs: Any) -> Any:
        x = self._conv2(self._conv1(inputs))
        x = self._conv5(F.relu(self._conv4(F.relu(self._conv3(x)))))
        if self.num_classes <= 0:
            return x
        x = F.relu(self._fc6(self._drop1(paddle.flatten(x, start_axis=1, stop_axis=-1))))
        return self._fc8(F.relu(self._fc7(self._drop2(x))))


def alexnet(pretrained: bool = False, **kwargs: Any) -> AlexNet:
    """:class:`AlexNet`; *pretrained* for the published weights, from the file where Paddle keeps it."""
    return weighted(AlexNet(**kwargs), "alexnet", pretrained)
