"""Scores that begin thousands of times too large: the first loss is far above that of one that knows nothing."""

# expect: nothing
# rules: GT704 at line 17

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 3))
optimizer = torch.optim.SGD(net.parameters(), 1e-5)
x, y = torch.rand(6, 4), torch.tensor([0, 1, 2, -100, 1, 2])

for _ in range(2):
    optimizer.zero_grad()
    loss = F.cross_entropy(net(x) * 1e3, y)
    loss.backward()
    optimizer.step()
