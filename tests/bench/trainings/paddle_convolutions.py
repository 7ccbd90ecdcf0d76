"""A small convolutional network with batch norm on images of 28 x 28."""

import paddle
from paddle import nn
from paddle.nn import functional as F

paddle.seed(0)
net = nn.Sequential(
    *(nn.Conv2D(1, 16, 3, padding=1), nn.BatchNorm2D(16), nn.ReLU(), nn.MaxPool2D(2)),
    *(nn.Conv2D(16, 32, 3, padding=1), nn.BatchNorm2D(32), nn.ReLU(), nn.MaxPool2D(2)),
    *(nn.Flatten(), nn.Dropout(0.2), nn.Linear(32 * 7 * 7, 10)),
)
optimizer = paddle.optimizer.Momentum(0.05, 0.9, parameters=net.parameters())
images, labels = paddle.randn([1024, 1, 28, 28]), paddle.randint(0, 10, [1024])
for epoch in range(5):
    for i in range(0, 1024, 128):
        optimizer.clear_grad()
        loss = F.cross_entropy(net(images[i : i + 128]), labels[i : i + 128])
        loss.backward()
        optimizer.step()
    print(epoch, loss.item())
