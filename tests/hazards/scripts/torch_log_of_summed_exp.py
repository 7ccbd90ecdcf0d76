"""A logarithm of summed exponentials: exp overflows."""

import torch
from torch import nn

torch.manual_seed(0)
net = nn.Linear(4, 3)
x = torch.rand(8, 4)
optimizer = torch.optim.SGD(net.parameters(), lr=2.0)
for _ in range(60):
    loss = -torch.log(torch.exp(net(x)).sum(dim=1)).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
