"""The state of the last step is kept with its graph."""

# expect: FREED backward at line 13

import torch
import torch.nn as nn
import torch.nn.functional as F

cell = nn.Linear(4, 4)
opt = torch.optim.SGD(cell.parameters(), lr=0.01)
state = torch.zeros(2, 4)
for _step in range(3):
    state = torch.tanh(cell(state + torch.randn(2, 4)))
    loss = state.square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
