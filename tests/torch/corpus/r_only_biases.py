"""Biases alone are trained, chosen by their names; and matrices with all that goes with them, in two groups."""

# expect: nothing

import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 8), nn.LayerNorm(8), nn.ReLU(), nn.Linear(8, 3))
other = nn.Sequential(nn.Linear(4, 8), nn.LayerNorm(8), nn.ReLU(), nn.Linear(8, 3))
biases = [p for name, p in net.named_parameters() if name.endswith("bias")]
groups = [
    {"params": [p for p in other.parameters() if p.ndim > 1], "weight_decay": 0.1},
    {"params": [p for p in other.parameters() if p.ndim <= 1], "weight_decay": 0.0},
]
for part, optimizer in ((net, torch.optim.Adam(biases, 1e-2)), (other, torch.optim.AdamW(groups, 1e-2))):
    for _ in range(2):
        optimizer.zero_grad()
        nn.functional.cross_entropy(part(torch.randn(8, 4)), torch.randint(0, 3, (8,))).backward()
        optimizer.step()
