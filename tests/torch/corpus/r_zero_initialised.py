"""The last layer of a branch starts at zero, and its first step changes that."""

# expect: nothing

import torch
torch.manual_seed(0)
net = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))
torch.nn.init.zeros_(net[2].weight)
torch.nn.init.zeros_(net[2].bias)
x = torch.randn(16, 4)
loss = (net(x) - 1).square().mean()
loss.backward()
