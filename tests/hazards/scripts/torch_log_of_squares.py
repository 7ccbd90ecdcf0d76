"""The logarithm of a sum of squares that becomes 0."""

import torch
from torch import nn

torch.manual_seed(0)
w = nn.Parameter(torch.tensor([1.0, 0.5]))
optimizer = torch.optim.SGD([w], lr=0.125)
for _ in range(60):
    h = torch.clamp(w, min=0.0)
    loss = torch.log(torch.sum(h**2)) + h.sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
