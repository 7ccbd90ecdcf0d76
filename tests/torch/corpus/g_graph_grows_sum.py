"""Losses are added up for the log with their graphs: the nodes of every step stay."""

# expect: nothing
# rules: GT713 at line 18

import torch
import torch.nn as nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
optimizer = torch.optim.SGD(net.parameters(), 0.1)
total = 0
for _ in range(6):
    loss = net(torch.randn(8, 4)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    total += loss
print(f"{float(total.detach()) / 6:.1f}")
