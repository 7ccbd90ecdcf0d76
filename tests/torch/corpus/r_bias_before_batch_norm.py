"""The biases of convolutions before batch norm change nothing: their gradients are rounding errors."""

# expect: nothing

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
net = nn.Sequential(
    *(nn.Conv2d(3, 8, 3, 2, 1), nn.BatchNorm2d(8), nn.SiLU()),
    *(nn.Conv2d(8, 8, 3, 2, 1), nn.BatchNorm2d(8), nn.SiLU()),
    *(nn.Flatten(), nn.Linear(128, 4)),
)
optimizer = torch.optim.SGD(net.parameters(), 0.001, 0.9, nesterov=True)
for _ in range(4):
    loss = F.cross_entropy(net(torch.randn(4, 3, 16, 16)), torch.tensor([0, 1, 2, 3]))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
