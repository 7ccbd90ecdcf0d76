"""Validation runs under no_grad after each step."""

# expect: nothing

import torch
import torch.nn as nn
import torch.nn.functional as F

net = nn.Linear(4, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.01)
for _step in range(2):
    loss = F.mse_loss(net(torch.randn(8, 4)), torch.randn(8, 1))
    opt.zero_grad()
    loss.backward()
    opt.step()
    with torch.no_grad():
        validation = F.mse_loss(net(torch.randn(8, 4)), torch.randn(8, 1)).item()
