"""A term of the loss is a Python number."""

# expect: DETACHED scale at line 12

import torch
import torch.nn as nn
import torch.nn.functional as F

net = nn.Linear(4, 1)
scale = nn.Parameter(torch.ones(1))
x, y = torch.randn(8, 4), torch.randn(8, 1)
penalty = (scale * scale).sum().item()
loss = F.mse_loss(net(x), y) + penalty
loss.backward()
