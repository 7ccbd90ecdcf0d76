"""log of zeros."""

# expect: DEAD_RELU net.weight at line 10

import torch
import torch.nn as nn
import torch.nn.functional as F

net = nn.Linear(4, 4)
p = torch.relu(net(torch.randn(8, 4)) - 100)
loss = -torch.log(p).mean()
loss.backward()
