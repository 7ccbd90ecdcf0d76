"""A copy of the network that stays as a reference: a deep copy keeps the training mode."""

# expect: nothing
# rules: GT714 at line 19

import copy

import torch
import torch.nn as nn

torch.manual_seed(0)
policy = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.Tanh(), nn.Linear(8, 3))
reference = copy.deepcopy(policy)
optimizer = torch.optim.Adam(policy.parameters(), 1e-3)
for _ in range(3):
    x, action = torch.randn(8, 4), torch.randint(3, (8, 1))
    log = policy(x).log_softmax(1)
    with torch.no_grad():
        before = reference(x).log_softmax(1)
    loss = -(log - before).exp().gather(1, action).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
