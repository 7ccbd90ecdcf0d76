"""A parametrization is cached by an evaluation, and the loss is computed from that."""

# expect: NO_GRAD net.parametrizations.weight.original0 at line 15

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.utils import parametrize
from torch.nn.utils.parametrizations import weight_norm

torch.manual_seed(0)
net = weight_norm(nn.Linear(3, 2))
opt = torch.optim.SGD(net.parameters(), 0.1)
with parametrize.cached():
    with torch.no_grad():
        before = net(torch.rand(2, 3))
    x, y = torch.rand(5, 3), torch.rand(5, 2)
    opt.zero_grad()
    loss = F.mse_loss(net(x), y)
    loss.backward()
    opt.step()
