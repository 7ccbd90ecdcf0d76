"""Gradients of two batches are accumulated on purpose."""

# expect: nothing

import torch
import torch.nn as nn
import torch.nn.functional as F

net = nn.Linear(4, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.01)
for _step in range(2):
    opt.zero_grad()
    for _part in range(2):
        loss = F.mse_loss(net(torch.randn(8, 4)), torch.randn(8, 1)) / 2
        loss.backward()
    opt.step()
