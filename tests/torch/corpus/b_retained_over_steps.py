"""The state of a recurrent cell goes from step to step with its graph, which retain_graph=True keeps."""

# expect: OVERWRITTEN backward at line 14

import torch
from torch import nn

torch.manual_seed(0)
cell, head = nn.RNNCell(4, 8), nn.Linear(8, 1)
opt = torch.optim.SGD([*cell.parameters(), *head.parameters()], 0.01)
hidden = torch.zeros(16, 8)
for _ in range(3):
    x = torch.randn(16, 4)
    hidden = cell(x, hidden)
    loss = ((head(hidden) - x.sum(1, keepdim=True)) ** 2).mean()
    opt.zero_grad()
    loss.backward(retain_graph=True)
    opt.step()
