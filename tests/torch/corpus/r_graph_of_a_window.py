"""Truncated backpropagation through time: losses of a window are added up, then go backward together."""

# expect: nothing

import torch
import torch.nn as nn

torch.manual_seed(0)
cell, head = nn.RNNCell(3, 8), nn.Linear(8, 1)
optimizer = torch.optim.SGD([*cell.parameters(), *head.parameters()], 0.1)
state, total, seen = torch.zeros(2, 8), 0, []
for t in range(16):
    state = cell(torch.randn(2, 3), state)
    loss = (head(state) - 1).pow(2).mean()
    total = total + loss
    seen.append(loss.item())
    if t % 4 == 3:
        optimizer.zero_grad()
        total.backward()
        optimizer.step()
        state, total = state.detach(), 0
