"""A slice takes all that there is: PyTorch hands out an alias, and the way to the targets goes on behind it."""

# expect: nothing
# rules: GT706 at line 20

import warnings

import torch
import torch.nn as nn
import torch.nn.functional as F

warnings.simplefilter("ignore")
torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
optimizer = torch.optim.Adam(net.parameters(), 1e-2)
x = torch.rand(6, 4)

for _ in range(2):
    optimizer.zero_grad()
    loss = F.mse_loss(net(x)[:, :1], x.sum(dim=1))
    loss.backward()
    optimizer.step()
