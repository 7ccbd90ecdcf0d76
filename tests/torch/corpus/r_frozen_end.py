"""The end of a network is frozen, its beginning is fine-tuned, and a validation runs in training mode."""

# expect: nothing

import torch
import torch.nn as nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 8), nn.BatchNorm1d(8), nn.Linear(8, 2))
net[2:].requires_grad_(False)
optimizer = torch.optim.SGD([p for p in net.parameters() if p.requires_grad], 0.1)
for _ in range(3):
    loss = net(torch.randn(8, 4)).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
