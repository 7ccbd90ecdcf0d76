"""A low rank that begins at 0, as LoRA's, and keys with a bias, whose gradient is rounding."""

# expect: nothing

import torch
import torch.nn as nn

torch.manual_seed(0)
query, key, value = nn.Linear(8, 8), nn.Linear(8, 8), nn.Linear(8, 8)
down, up = nn.Linear(8, 2, bias=False), nn.Linear(2, 8, bias=False)
nn.init.zeros_(up.weight)
modules = nn.ModuleList([query, key, value, down, up])
optimizer = torch.optim.SGD(modules.parameters(), 1e-4)
x, y = torch.randn(4, 6, 8), torch.randn(4, 6, 8)
for step in range(2):
    optimizer.zero_grad()
    q, k, v = query(x) + up(down(x)), key(x), value(x)
    h = torch.softmax(q @ k.transpose(1, 2) / 3, -1) @ v
    loss = (h - y).square().mean()
    loss.backward()
    optimizer.step()
