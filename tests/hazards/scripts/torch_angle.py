"""The angle between two vectors that come to point the same way."""

import torch
from torch import nn

torch.manual_seed(0)
a = nn.Parameter(torch.tensor([1.0, 1.0]))
b = torch.tensor([1.0, 0.0])
optimizer = torch.optim.SGD([a], lr=0.5)
for _ in range(200):
    cosine = torch.sum(a * b) / torch.sqrt(torch.sum(a * a) + 1e-12)
    loss = torch.acos(cosine) ** 2
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
