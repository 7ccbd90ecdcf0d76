"""ResNet-50 as people write it: four stages of 3, 4, 6 and 3 bottleneck blocks, with batch normalisation.

Every layer of the real one is here. Only the channels are fewer (an eighth) and the images smaller, so that it runs in
a moment; `ResNet50(width=64, classes=1000)` is the one of the paper. See it::

    gradtool graph samples/models/resnet50.py -o resnet50.html
    gradtool graph samples/models/resnet50.py -o resnet50.svg --max-nodes 200
    gradtool backward samples/models/resnet50.py
"""

import paddle
import paddle.nn as nn
import paddle.nn.functional as F


class Bottleneck(nn.Layer):
    """Three convolutions, and a way around them."""

    expansion = 4

    def __init__(self, inputs, width, stride):
        super().__init__()
        outputs = width * self.expansion
        self.conv1 = nn.Conv2D(inputs, width, 1, bias_attr=False)
        self.bn1 = nn.BatchNorm2D(width)
        self.conv2 = nn.Conv2D(width, width, 3, stride=stride, padding=1, bias_attr=False)
        self.bn2 = nn.BatchNorm2D(width)
        self.conv3 = nn.Conv2D(width, outputs, 1, bias_attr=False)
        self.bn3 = nn.BatchNorm2D(outputs)
        self.downsample = None
        if stride != 1 or inputs != outputs:
            self.downsample = nn.Sequential(
                nn.Conv2D(inputs, outputs, 1, stride=stride, bias_attr=False),
                nn.BatchNorm2D(outputs),
            )

    def forward(self, x):
        around = x if self.downsample is None else self.downsample(x)
        x = F.relu(self.bn1(self.conv1(x)))
        x = F.relu(self.bn2(self.conv2(x)))
        return F.relu(self.bn3(self.conv3(x)) + around)


class ResNet50(nn.Layer):
    def __init__(self, width=8, classes=10):
        super().__init__()
        self.conv1 = nn.Conv2D(3, width, 7, stride=2, padding=3, bias_attr=False)
        self.bn1 = nn.BatchNorm2D(width)
        self.maxpool = nn.MaxPool2D(3, stride=2, padding=1)
        self.inputs = width
        self.layer1 = self.stage(width, 3, 1)
        self.layer2 = self.stage(width * 2, 4, 2)
        self.layer3 = self.stage(width * 4, 6, 2)
        self.layer4 = self.stage(width * 8, 3, 2)
        self.avgpool = nn.AdaptiveAvgPool2D(1)
        self.fc = nn.Linear(width * 8 * Bottleneck.expansion, classes)

    def stage(self, width, count, stride):
        blocks = []
        for i in range(count):
            blocks.append(Bottleneck(self.inputs, width, stride if i == 0 else 1))
            self.inputs = width * Bottleneck.expansion
        return nn.Sequential(*blocks)

    def forward(self, x):
        x = self.maxpool(F.relu(self.bn1(self.conv1(x))))
        x = self.layer4(self.layer3(self.layer2(self.layer1(x))))
        return self.fc(paddle.flatten(self.avgpool(x), 1))


def build():
    """The loss of one batch, and the model."""
    model = ResNet50()
    if paddle.in_dynamic_mode():
        images, labels = paddle.randn([2, 3, 64, 64]), paddle.randint(0, 10, [2])
    else:
        images = paddle.static.data("images", [None, 3, 64, 64])
        labels = paddle.static.data("labels", [None], "int64")
    return F.cross_entropy(model(images), labels), model
