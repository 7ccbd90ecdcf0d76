"""A model is trained inside of each step as a deep copy: nothing goes back from the copy to the outer model."""

# expect: UNUSED net.weight at line 12

import copy

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
net = nn.Linear(3, 1)
outer = torch.optim.SGD(net.parameters(), 0.1)
for _ in range(2):
    inner = copy.deepcopy(net)
    x, y = torch.rand(5, 3), torch.rand(5, 1)
    first = F.mse_loss(inner(x), y)
    for p, g in zip(inner.parameters(), torch.autograd.grad(first, list(inner.parameters())), strict=True):
        p.data = p.data - 0.1 * g
    loss = F.mse_loss(inner(x), y)
    outer.zero_grad()
    loss.backward()
    outer.step()
