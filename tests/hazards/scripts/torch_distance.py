"""The distance of two points that meet."""

import torch
from torch import nn

torch.manual_seed(0)
a = nn.Parameter(torch.tensor([1.0, 0.0]))
b = torch.zeros(2)
optimizer = torch.optim.SGD([a], lr=0.125)
for _ in range(20):
    loss = torch.sqrt(torch.sum((a - b) ** 2))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
