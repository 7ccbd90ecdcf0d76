"""A generator under no_grad in the discriminator's step, a frozen discriminator in the generator's."""

# expect: nothing

import torch
import torch.nn as nn

torch.manual_seed(0)
g = nn.Sequential(nn.Linear(4, 8, bias=False), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 2))
d = nn.Sequential(nn.Linear(2, 8, bias=False), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 1))
of_g, of_d = torch.optim.SGD(g.parameters(), 0.1), torch.optim.SGD(d.parameters(), 0.1)
for _ in range(3):
    with torch.no_grad():
        fake = g(torch.randn(8, 4))
    of_d.zero_grad()
    (d(fake).sigmoid().mean() - d(torch.randn(8, 2)).sigmoid().mean()).backward()
    of_d.step()
    d.requires_grad_(False)
    of_g.zero_grad()
    loss = -d(g(torch.randn(8, 4))).sigmoid().mean()
    loss.backward()
    of_g.step()
    d.requires_grad_(True)
