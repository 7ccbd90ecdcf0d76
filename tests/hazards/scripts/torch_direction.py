"""The direction of what relu gives: the tenth batch is padding."""

import torch
from torch import nn

torch.manual_seed(0)
net = nn.Linear(4, 16, bias=False)
x = torch.rand(8, 4)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(20):
    batch = x if step < 10 else x * 0.0
    h = torch.relu(net(batch))
    loss = (h / torch.norm(h, dim=1, keepdim=True)).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
