"""A value that the gradient of exp needs is overwritten."""

# expect: OVERWRITTEN backward at line 11

import torch
import torch.nn as nn
import torch.nn.functional as F

net = nn.Linear(4, 4)
h = torch.exp(net(torch.randn(8, 4)))
h.mul_(2)
loss = h.sum()
loss.backward()
