"""Parametrizations that are cached for one loss each."""

# expect: nothing

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.utils import parametrize
from torch.nn.utils.parametrizations import weight_norm

torch.manual_seed(0)
net = weight_norm(nn.Linear(3, 2))
opt = torch.optim.SGD(net.parameters(), 0.1)
for _ in range(2):
    x, y = torch.rand(5, 3), torch.rand(5, 2)
    opt.zero_grad()
    with parametrize.cached():
        loss = F.mse_loss(net(x) + net(2 * x), y)
    loss.backward()
    opt.step()
