"""A critic of straight pieces, with a penalty of its gradient at points between real and made data."""

# expect: nothing

import torch
import torch.nn as nn

torch.manual_seed(0)
critic = nn.Sequential(nn.Linear(2, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1))
optimizer = torch.optim.Adam(critic.parameters(), 1e-3, (0.0, 0.9))
for _ in range(3):
    real, made = torch.randn(8, 2), torch.randn(8, 2) + 2
    share = torch.rand(8, 1)
    between = (share * real + (1 - share) * made).requires_grad_(True)
    out = critic(between)
    (slope,) = torch.autograd.grad(out, between, torch.ones_like(out), create_graph=True, retain_graph=True)
    penalty = ((slope.norm(2, dim=1) - 1) ** 2).mean()
    loss = critic(made).mean() - critic(real).mean() + 10 * penalty
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
