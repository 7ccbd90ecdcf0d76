"""Pairs that are meant: an axis is added by an index, and a column is compared with a column."""

# expect: nothing

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
optimizer = torch.optim.Adam(net.parameters(), 1e-2)
x = torch.rand(6, 4)

for _ in range(2):
    optimizer.zero_grad()
    out = net(x)
    ranks = torch.sigmoid(out[:, 0][:, None] - x.sum(dim=1)[None, :]).mean()
    loss = F.l1_loss(out[:, :1], x.sum(dim=1, keepdim=True)) + F.huber_loss(out[:, 1], x.sum(dim=1)) + ranks
    loss.backward()
    optimizer.step()
