"""A small convolutional network with batch norm on images of 28 x 28."""

import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
net = nn.Sequential(
    *(nn.Conv2d(1, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(), nn.MaxPool2d(2)),
    *(nn.Conv2d(16, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU(), nn.MaxPool2d(2)),
    *(nn.Flatten(), nn.Dropout(0.2), nn.Linear(32 * 7 * 7, 10)),
)
optimizer = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9)
images, labels = torch.randn(1024, 1, 28, 28), torch.randint(10, (1024,))
for epoch in range(5):
    for i in range(0, 1024, 128):
        optimizer.zero_grad()
        loss = F.cross_entropy(net(images[i : i + 128]), labels[i : i + 128])
        loss.backward()
        optimizer.step()
    print(epoch, loss.item())
