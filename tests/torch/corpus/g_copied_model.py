"""The model is copied after the optimizer was made, which holds parameters that nothing reads."""

# expect: NOT_LISTED net.0.weight at line 15 ; UNUSED first.0.weight at line 13
# rules: GT701 at line 15

import copy

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3))
x, y = torch.rand(6, 4), torch.tensor([0, 1, 2, 0, 1, 2])
optimizer = torch.optim.SGD(net.parameters(), 1e-2)
first, net = net, copy.deepcopy(net)

for _ in range(2):
    optimizer.zero_grad()
    loss = F.cross_entropy(net(x), y)
    loss.backward()
    optimizer.step()
