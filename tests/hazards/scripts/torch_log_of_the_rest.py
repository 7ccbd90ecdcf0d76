"""Cross entropy written out: 1 - sigmoid becomes 0."""

import torch
from torch import nn

torch.manual_seed(0)
net = nn.Linear(4, 1)
x = torch.rand(8, 4)
optimizer = torch.optim.SGD(net.parameters(), lr=10.0)
for _ in range(60):
    p = torch.sigmoid(net(x))
    loss = torch.log(1 - p).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
