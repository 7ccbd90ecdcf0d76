"""Distillation: a small net learns from the answers and from the maps of a large one, which stays as it is."""

import numpy as np
import paddle
import paddle.nn as nn
import paddle.nn.functional as F


class ConvNet(nn.Layer):
    def __init__(self, width, classes=5):
        super().__init__()
        self.conv1 = nn.Conv2D(3, width, 3, stride=2, padding=1)
        self.norm1 = nn.BatchNorm2D(width)
        self.conv2 = nn.Conv2D(width, 2 * width, 3, stride=2, padding=1)
        self.fc = nn.Linear(2 * width, classes)

    def forward(self, x):
        features = F.relu(self.norm1(self.conv1(x)))
        deep = F.relu(self.conv2(features))
        return self.fc(deep.mean([2, 3])), [features, deep]


class FreezeMixin:
    def freeze(self):
        self.eval()
        for parameter in self.parameters():
            parameter.trainable = False
        return self


class Teacher(ConvNet, FreezeMixin):
    pass


class Distilled(nn.Layer):
    def __init__(self):
        super().__init__()
        self.teacher = Teacher(8).freeze()
        self.student = ConvNet(4)
        self.hint = nn.Conv2D(4, 8, 1)

    def forward(self, x):
        with paddle.no_grad():
            teacher = self.teacher(x)
        return teacher, self.student(x)


class DistillationLoss(nn.Layer):
    def __init__(self, temperature=4.0, alpha=0.7):
        super().__init__()
        self.temperature, self.alpha = temperature, alpha

    def attention(self, feature):
        return F.normalize(feature.pow(2).mean(1).flatten(1))

    def forward(self, teacher, student, hint, labels):
        (teacher_logits, teacher_maps), (logits, maps) = teacher, student
        t = self.temperature
        soft = F.kl_div(F.log_softmax(logits / t), F.softmax(teacher_logits / t), reduction="batchmean") * t * t
        hard = F.cross_entropy(logits, labels)
        hints = F.mse_loss(hint(maps[0]), teacher_maps[0])
        attention = (self.attention(maps[1]) - self.attention(teacher_maps[1])).pow(2).mean()
        return self.alpha * soft + (1 - self.alpha) * hard + 0.1 * hints + attention


def network():
    return Distilled()


def loss(net):
    rng = np.random.default_rng(31)
    images = paddle.to_tensor(rng.standard_normal([3, 3, 8, 8]).astype(paddle.get_default_dtype()))
    labels = paddle.to_tensor(rng.integers(0, 5, [3]))
    teacher, student = net(images)
    return DistillationLoss()(teacher, student, net.hint, labels)


def build():
    net = network()
    return loss(net), net
