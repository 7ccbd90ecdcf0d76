"""A generator and a discriminator, each with an optimizer of its own."""

import torch
from torch import nn

torch.manual_seed(0)
generator = nn.Sequential(nn.Linear(16, 128), nn.ReLU(), nn.Linear(128, 64))
discriminator = nn.Sequential(nn.Linear(64, 128), nn.LeakyReLU(0.2), nn.Linear(128, 1))
g_optimizer = torch.optim.Adam(generator.parameters(), lr=2e-4)
d_optimizer = torch.optim.Adam(discriminator.parameters(), lr=2e-4)
criterion = nn.BCEWithLogitsLoss()
ones, zeros = torch.ones(128, 1), torch.zeros(128, 1)
for _ in range(60):
    real = torch.randn(128, 64) * 0.5 + 1
    fake = generator(torch.randn(128, 16))
    d_loss = criterion(discriminator(real), ones) + criterion(discriminator(fake.detach()), zeros)
    d_optimizer.zero_grad()
    d_loss.backward()
    d_optimizer.step()
    g_loss = criterion(discriminator(fake), ones)
    g_optimizer.zero_grad()
    g_loss.backward()
    g_optimizer.step()
print(d_loss.item(), g_loss.item())
