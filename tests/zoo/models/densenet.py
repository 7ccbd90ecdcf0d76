"""DenseNet: each layer reads all that came before it in its block."""

import numpy as np
import paddle
import paddle.nn as nn
import paddle.nn.functional as F


class DenseLayer(nn.Layer):
    def __init__(self, num_input_features, growth_rate, bn_size):
        super().__init__()
        self.norm1 = nn.BatchNorm2D(num_input_features)
        self.conv1 = nn.Conv2D(num_input_features, bn_size * growth_rate, 1, bias_attr=False)
        self.norm2 = nn.BatchNorm2D(bn_size * growth_rate)
        self.conv2 = nn.Conv2D(bn_size * growth_rate, growth_rate, 3, padding=1, bias_attr=False)

    def forward(self, features):
        x = paddle.concat(features, axis=1)
        x = self.conv1(F.relu(self.norm1(x)))
        return self.conv2(F.relu(self.norm2(x)))


class DenseBlock(nn.LayerList):
    def __init__(self, num_layers, num_input_features, growth_rate, bn_size=2):
        super().__init__(
            [DenseLayer(num_input_features + i * growth_rate, growth_rate, bn_size) for i in range(num_layers)]
        )

    def forward(self, x):
        features = [x]
        for layer in self:
            features.append(layer(features))
        return paddle.concat(features, axis=1)


class Transition(nn.Sequential):
    def __init__(self, num_input_features, num_output_features):
        super().__init__(
            nn.BatchNorm2D(num_input_features),
            nn.ReLU(),
            nn.Conv2D(num_input_features, num_output_features, 1, bias_attr=False),
            nn.AvgPool2D(kernel_size=2, stride=2),
        )


class DenseNet(nn.Layer):
    def __init__(self, growth_rate=4, block_config=(3, 3), num_init_features=8, num_classes=5):
        super().__init__()
        self.conv0 = nn.Conv2D(3, num_init_features, 3, stride=2, padding=1, bias_attr=False)
        self.norm0 = nn.BatchNorm2D(num_init_features)
        self.pool0 = nn.MaxPool2D(3, stride=2, padding=1)
        self.blocks = nn.Sequential()
        num_features = num_init_features
        for i, num_layers in enumerate(block_config):
            self.blocks.add_sublayer(f"denseblock{i + 1}", DenseBlock(num_layers, num_features, growth_rate))
            num_features += num_layers * growth_rate
            if i != len(block_config) - 1:
                self.blocks.add_sublayer(f"transition{i + 1}", Transition(num_features, num_features // 2))
                num_features //= 2
        self.norm5 = nn.BatchNorm2D(num_features)
        self.classifier = nn.Linear(num_features, num_classes)

    def forward(self, x):
        x = self.pool0(F.relu(self.norm0(self.conv0(x))))
        x = F.relu(self.norm5(self.blocks(x)))
        return self.classifier(paddle.flatten(F.adaptive_avg_pool2d(x, (1, 1)), 1))


def network():
    return DenseNet()


def loss(net):
    rng = np.random.default_rng(4)
    images = paddle.to_tensor(rng.standard_normal([2, 3, 24, 24]).astype(paddle.get_default_dtype()))
    labels = paddle.to_tensor(rng.integers(0, 5, [2]))
    return F.nll_loss(F.log_softmax(net(images), axis=1), labels)


def build():
    net = network()
    return loss(net), net
