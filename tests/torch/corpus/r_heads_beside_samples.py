"""Attention splits rows into heads and puts them beside the samples: as many samples as a head is wide."""

# expect: nothing

import torch
from torch import nn

torch.manual_seed(0)
attention, head = nn.MultiheadAttention(8, 2, batch_first=True), nn.Linear(8, 3)
opt = torch.optim.Adam([*attention.parameters(), *head.parameters()], 0.01)
x, y = torch.randn(4, 5, 8), torch.randint(0, 3, (4,))
for _ in range(3):
    h, _ = attention(x, x, x)
    loss = nn.functional.cross_entropy(head((x + h)[:, 0]), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
