"""A slice of a sigmoid's result is overwritten."""

# expect: OVERWRITTEN backward at line 11

import torch
import torch.nn as nn
import torch.nn.functional as F

net = nn.Linear(4, 4)
h = torch.sigmoid(net(torch.randn(8, 4)))
h[:, 0] = 0.0
loss = h.sum()
loss.backward()
