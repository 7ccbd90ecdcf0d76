"""A second module is not in the optimizer."""

# expect: NOT_LISTED body.weight at line 10

import torch
import torch.nn as nn
import torch.nn.functional as F

body, head = nn.Linear(4, 8), nn.Linear(8, 1)
opt = torch.optim.SGD(head.parameters(), lr=0.1)
for _step in range(2):
    x, y = torch.randn(8, 4), torch.randn(8, 1)
    loss = F.mse_loss(head(torch.tanh(body(x))), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
