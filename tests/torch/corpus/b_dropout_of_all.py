"""A dropout that is given what is to stay drops everything."""

# expect: TIMES_ZERO net.0.weight at line 12

import torch
import torch.nn as nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Dropout(1.0))
head = nn.Linear(8, 1)
x, y = torch.rand(6, 4), torch.rand(6, 1)
h = net(x)
loss = (head(h) - y).square().mean()
loss.backward()
