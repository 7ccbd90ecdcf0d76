"""Batch norm keeps its statistics on purpose: these layers alone are in evaluation mode."""

# expect: nothing

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 3))
optimizer = torch.optim.Adam(net.parameters(), 1e-2)
x, y = torch.rand(6, 4), torch.tensor([0, 1, 2, 0, 1, 2])

for epoch in range(3):
    net.train()
    if epoch:
        net[1].eval()
    optimizer.zero_grad()
    loss = F.cross_entropy(net(x), y)
    loss.backward()
    optimizer.step()
