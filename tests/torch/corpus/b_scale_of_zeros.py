"""The scale of a group norm is zero, and nothing below it gets a gradient."""

# expect: TIMES_ZERO net.0.weight at line 8 ; TIMES_ZERO net.2.weight at line 9

import torch
torch.manual_seed(0)
net = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.GroupNorm(2, 8), torch.nn.Linear(8, 1))
torch.nn.init.zeros_(net[1].weight)
loss = net(torch.randn(16, 4)).square().mean()
loss.backward()
