"""backward a second time over one graph."""

# expect: FREED backward at line 11

import torch
import torch.nn as nn
import torch.nn.functional as F

net = nn.Linear(4, 1)
loss = torch.tanh(net(torch.randn(8, 4))).square().mean()
loss.backward()
loss.backward()
