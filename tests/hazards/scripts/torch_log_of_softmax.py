"""The logarithm of a softmax: a probability becomes 0."""

import torch
from torch import nn

torch.manual_seed(0)
net = nn.Linear(4, 3)
x = torch.rand(8, 4)
optimizer = torch.optim.SGD(net.parameters(), lr=20.0)
for _ in range(40):
    p = torch.softmax(net(x), dim=1)
    loss = (torch.log(p[:, 0])).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
