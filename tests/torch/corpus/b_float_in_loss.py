"""float() of a term of the loss."""

# expect: DETACHED scale at line 12

import torch
import torch.nn as nn
import torch.nn.functional as F

net = nn.Linear(4, 1)
scale = nn.Parameter(torch.ones(1))
x, y = torch.randn(8, 4), torch.randn(8, 1)
loss = F.mse_loss(net(x), y) + float((scale * scale).sum())
loss.backward()
