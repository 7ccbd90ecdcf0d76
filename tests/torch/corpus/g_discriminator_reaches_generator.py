"""The discriminator's loss reaches the generator, and its gradients are left there."""

# expect: nothing
# rules: GT710 at line 20

import torch
from torch import nn
torch.manual_seed(0)
G, D = nn.Linear(2, 3), nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))
g_opt, d_opt = torch.optim.SGD(G.parameters(), 0.1), torch.optim.SGD(D.parameters(), 0.1)
bce = nn.BCEWithLogitsLoss()
for step in range(4):
    real, z = torch.randn(8, 3), torch.randn(8, 2)
    d_opt.zero_grad()
    d_loss = bce(D(real), torch.ones(8, 1)) + bce(D(G(z)), torch.zeros(8, 1))  # not detached: fills G's .grad
    d_loss.backward()
    d_opt.step()
    g_loss = bce(D(G(z)), torch.ones(8, 1))
    g_loss.backward()
    g_opt.step()
    g_opt.zero_grad()
