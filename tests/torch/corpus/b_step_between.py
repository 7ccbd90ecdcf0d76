"""The optimizer steps before the second backward."""

# expect: OVERWRITTEN backward at line 14

import torch
import torch.nn as nn
import torch.nn.functional as F

first, second = nn.Linear(4, 4), nn.Linear(4, 1)
opt = torch.optim.SGD([*first.parameters(), *second.parameters()], lr=0.1)
h = first(torch.randn(8, 4))
loss = second(h).square().mean()
loss.backward(retain_graph=True)
opt.step()
again = second(h).abs().mean() + loss
again.backward()
