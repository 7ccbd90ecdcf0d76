"""A rate of 2 for squares: each step is larger than the one before, until the loss is infinite."""

# expect: NOT_FINITE model.0.weight at line 0
# rules: GT716 at line 11

import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 16), nn.ReLU(), nn.Linear(16, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=2.0)
x = torch.randn(16, 4)
for _ in range(8):
    optimizer.zero_grad()
    loss = ((model(x) - 3 * x.sum(1, keepdim=True)) ** 2).mean()
    loss.backward()
    optimizer.step()
