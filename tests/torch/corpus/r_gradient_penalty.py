"""A gradient is part of the loss."""

# expect: nothing

import torch
import torch.nn as nn
import torch.nn.functional as F

net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
x = torch.randn(8, 4, requires_grad=True)
y = net(x)
(slope,) = torch.autograd.grad(y.sum(), x, create_graph=True)
loss = y.square().mean() + (slope.norm(dim=1) - 1).square().mean()
loss.backward()
