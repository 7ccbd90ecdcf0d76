"""Losses that lay out what they compare, a column of predictions and a difference: each prediction meets all targets."""

# expect: nothing
# rules: GT706 at line 20 ; GT706 at line 20 ; GT706 at line 20

import warnings

import torch
import torch.nn as nn
import torch.nn.functional as F

warnings.simplefilter("ignore")
torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
optimizer = torch.optim.Adam(net.parameters(), 1e-2)
x = torch.rand(6, 4)

for _ in range(2):
    optimizer.zero_grad()
    loss = sum(compare(net(x)[:, :1], x.sum(dim=1)) for compare in (F.l1_loss, F.huber_loss, F.smooth_l1_loss))
    loss.backward()
    optimizer.step()
