"""LeNet (LeCun et al. 1998)."""

from __future__ import annotations

from typing import Any

from gradtool import paddle
from gradtool.paddle import nn
from gradtool.paddle.nn.layer import Layer

__all__ = ["LeNet"]


class LeNet(Layer):
    """The small network for grey images of 28 by 28 pixels, such as those of MNIST.

    Args:
        num_classes: how many scores come out; 0 for the features, ``[batch, 16, 5, 5]``.

    >>> from gradtool import paddle
    >>> net = paddle.vision.models.LeNet()
    >>> net(paddle.ones([2, 1, 28, 28])).shape
    [2, 10]
    """

    def __init__(self, num_classes: int = 10) -> None:
        super().__init__()
        self.num_classes = num_classes
        self.features = nn.Sequential(
            nn.Conv2D(1, 6, 3, stride=1, padding=1),
            nn.ReLU(),
            nn.MaxPool2D(2, 2),
            nn.Conv2D(6, 16, 5, stride=1, padding=0),
            nn.ReLU(),
            nn.MaxPool2D(2, 2),
        )
        if num_classes > 0:
            self.fc = nn.Sequential(nn.Linear(400, 120), nn.Linear(120, 84), nn.Linear(84, num_classes))

    def forward(self, inputs: Any) -> Any:
        x = self.features(inputs)
        return self.fc(paddle.flatten(x, 1)) if self.num_classes > 0 else x
