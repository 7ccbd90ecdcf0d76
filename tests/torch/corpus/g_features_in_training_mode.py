"""A loss of features: the frozen network that gives them normalises with the batch."""

# expect: nothing
# rules: GT714 at line 16

import torch
import torch.nn as nn

torch.manual_seed(0)
net = nn.Linear(4, 4)
features = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.ReLU()).requires_grad_(False)
optimizer = torch.optim.SGD(net.parameters(), 0.1)
for _ in range(3):
    x = torch.randn(8, 4)
    optimizer.zero_grad()
    loss = (features(net(x)) - features(x)).square().mean()
    loss.backward()
    optimizer.step()
