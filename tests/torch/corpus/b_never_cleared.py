"""Gradients are never cleared."""

# expect: ACCUMULATED net.weight at line 13

import torch
import torch.nn as nn
import torch.nn.functional as F

net = nn.Linear(4, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.01)
for _step in range(3):
    loss = F.mse_loss(net(torch.randn(8, 4)), torch.randn(8, 1))
    loss.backward()
    opt.step()
