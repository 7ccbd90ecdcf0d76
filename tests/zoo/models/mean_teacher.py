"""A mean teacher: a student learns labels and what a slow average of itself says of other views."""

import copy

import numpy as np
import paddle
import paddle.nn as nn
import paddle.nn.functional as F


class MeanTeacher(nn.Layer):
    def __init__(self, dim=6, classes=3):
        super().__init__()
        self.student = nn.Sequential(nn.Linear(dim, 10), nn.BatchNorm1D(10), nn.ReLU(), nn.Linear(10, classes))
        self.teacher = copy.deepcopy(self.student)
        for param in self.teacher.parameters():
            param.stop_gradient = True

    @paddle.no_grad()
    def update(self, alpha=0.99):
        for slow, fast in zip(self.teacher.parameters(), self.student.parameters(), strict=True):
            slow.set_value(alpha * slow + (1 - alpha) * fast)

    def forward(self, labelled, labels, view, other_view):
        supervised = F.cross_entropy(self.student(labelled), labels)
        with paddle.no_grad():
            target = F.softmax(self.teacher(other_view))
        consistency = F.mse_loss(F.softmax(self.student(view)), target)
        return supervised + 0.5 * consistency


def network():
    return MeanTeacher()


def loss(net):
    rng = np.random.RandomState(7)
    kind = paddle.get_default_dtype()
    labelled, view = [paddle.to_tensor(rng.randn(8, 6).astype(kind)) for _ in range(2)]
    noise = paddle.to_tensor(0.1 * rng.randn(8, 6).astype(kind))
    return net(labelled, paddle.to_tensor(rng.randint(0, 3, size=8)), view, view + noise)


if __name__ == "__main__":
    model = network()
    optimizer = paddle.optimizer.Momentum(learning_rate=0.1, parameters=model.student.parameters())
    for _ in range(2):
        cost = loss(model)
        cost.backward()
        optimizer.step()
        optimizer.clear_grad()
        model.update()
