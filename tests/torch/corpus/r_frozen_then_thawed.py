"""Frozen during training, thawed after it."""

# expect: nothing

import torch

net = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 1))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
net[0].weight.requires_grad_(False)
for i in range(5):
    loss = net(torch.randn(16, 4)).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
net[0].weight.requires_grad_(True)
