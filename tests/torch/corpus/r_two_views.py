"""Two views of the same samples through one encoder with batch norm: a bias before it has a gradient of rounding."""

# expect: nothing

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
f = nn.Sequential(nn.Linear(12, 24), nn.BatchNorm1d(24), nn.ReLU(), nn.Linear(24, 8))
h = nn.Sequential(nn.Linear(8, 4), nn.ReLU(), nn.Linear(4, 8))
opt = torch.optim.SGD([*f.parameters(), *h.parameters()], lr=0.05, momentum=0.9)
for _ in range(4):
    x = torch.randn(16, 12)
    z1, z2 = f(x + 0.1 * torch.randn_like(x)), f(x + 0.1 * torch.randn_like(x))
    p1, p2 = h(z1), h(z2)
    loss = -(F.cosine_similarity(p1, z2.detach()).mean() + F.cosine_similarity(p2, z1.detach()).mean()) / 2
    opt.zero_grad()
    loss.backward()
    opt.step()
