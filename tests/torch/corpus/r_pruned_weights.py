"""Masks of pruned weights have as many rows as a batch has samples: they are buffers, and no data."""

# expect: nothing

import torch
import torch.nn.functional as F
from torch.nn.utils import prune

torch.manual_seed(9)
net = torch.nn.Sequential(torch.nn.Linear(10, 64), torch.nn.ReLU(), torch.nn.Linear(64, 3))
x = torch.randn(200, 10)
y = x[:, :3].argmax(1)
prune.l1_unstructured(net[0], "weight", 0.5)
prune.l1_unstructured(net[2], "weight", 0.5)
optimizer = torch.optim.SGD(net.parameters(), 0.02)
for _ in range(3):
    batch = torch.randint(0, 200, (64,))
    loss = F.cross_entropy(net(x[batch]), y[batch])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
