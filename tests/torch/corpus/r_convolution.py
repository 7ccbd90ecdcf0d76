"""A small network of convolutions."""

# expect: nothing

import torch
import torch.nn as nn
import torch.nn.functional as F

net = nn.Sequential(nn.Conv2d(1, 4, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(64, 3))
opt = torch.optim.SGD(net.parameters(), lr=1e-2, momentum=0.9)
for _step in range(2):
    loss = F.cross_entropy(net(torch.randn(4, 1, 8, 8)), torch.randint(0, 3, (4,)))
    opt.zero_grad()
    loss.backward()
    opt.step()
