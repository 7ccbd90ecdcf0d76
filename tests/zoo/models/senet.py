"""SENet: what a block computes is weighted by channel, from what its channels hold on average."""

import numpy as np
import paddle
import paddle.nn as nn
import paddle.nn.functional as F


class SELayer(nn.Layer):
    def __init__(self, channel, reduction=4):
        super().__init__()
        self.avg_pool = nn.AdaptiveAvgPool2D(1)
        self.fc = nn.Sequential(
            nn.Linear(channel, channel // reduction, bias_attr=False),
            nn.ReLU(),
            nn.Linear(channel // reduction, channel, bias_attr=False),
            nn.Sigmoid(),
        )

    def forward(self, x):
        b, c, _, _ = x.shape
        y = self.avg_pool(x).reshape([b, c])
        y = self.fc(y).reshape([b, c, 1, 1])
        return x * y.expand_as(x)


class SEBasicBlock(nn.Layer):
    def __init__(self, inplanes, planes, stride=1):
        super().__init__()
        self.conv1 = nn.Conv2D(inplanes, planes, 3, stride, 1, bias_attr=False)
        self.bn1 = nn.BatchNorm2D(planes)
        self.conv2 = nn.Conv2D(planes, planes, 3, 1, 1, bias_attr=False)
        self.bn2 = nn.BatchNorm2D(planes)
        self.se = SELayer(planes)
        if inplanes != planes:
            self.downsample = nn.Sequential(
                nn.Conv2D(inplanes, planes, 1, stride, bias_attr=False), nn.BatchNorm2D(planes)
            )
        else:
            self.downsample = lambda x: x

    def forward(self, x):
        residual = self.downsample(x)
        out = F.relu(self.bn1(self.conv1(x)))
        out = self.se(self.bn2(self.conv2(out)))
        out += residual
        return F.relu(out)


class SENet(nn.Layer):
    def __init__(self, num_classes=4):
        super().__init__()
        self.stem = nn.Sequential(
            ("conv", nn.Conv2D(3, 8, 3, padding=1, bias_attr=False)),
            ("bn", nn.BatchNorm2D(8)),
            ("relu", nn.ReLU()),
        )
        self.layer1 = nn.Sequential(SEBasicBlock(8, 8), SEBasicBlock(8, 8))
        self.layer2 = nn.Sequential(SEBasicBlock(8, 16, 2), SEBasicBlock(16, 16))
        self.fc = nn.Linear(16, num_classes)
        for layer in self.sublayers():
            if isinstance(layer, nn.Conv2D):
                nn.initializer.KaimingNormal()(layer.weight)

    def forward(self, x):
        x = self.layer2(self.layer1(self.stem(x)))
        x = F.adaptive_avg_pool2d(x, 1).squeeze([2, 3])
        return self.fc(F.dropout(x, p=0.2, training=False))


def network():
    return SENet()


def loss(net):
    rng = np.random.default_rng(3)
    images = paddle.to_tensor(rng.standard_normal([2, 3, 12, 12]).astype(paddle.get_default_dtype()))
    labels = paddle.to_tensor(rng.integers(0, 4, [2]))
    return nn.CrossEntropyLoss(label_smoothing=0.1)(net(images), labels)


def build():
    net = network()
    return loss(net), net
