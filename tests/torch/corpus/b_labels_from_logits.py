"""The target is computed from the same logits, and detached by argmax."""

# expect: NON_DIFFERENTIABLE net.weight at line 12 ; TIMES_ZERO tensor_0 at line 13

import torch
import torch.nn as nn
import torch.nn.functional as F

net = nn.Linear(4, 3)
x = torch.randn(8, 4)
scores = net(x)
best = scores.max(dim=1).indices
loss = best.float().mean() + 0 * torch.zeros(1, requires_grad=True).sum()
loss.backward()
