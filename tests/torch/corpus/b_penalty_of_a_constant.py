"""A penalty on a gradient that is taken without create_graph=True is a constant, and trains nothing."""
# expect: CONSTANT net.weight at line 12

import torch
from torch import nn

torch.manual_seed(0)
net = nn.Linear(4, 1)
x = torch.rand(8, 4, requires_grad=True)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(2):
    (g,) = torch.autograd.grad(net(x).square().sum(), [x])
    loss = net(x).mean() + ((g.square().sum(1) + 1e-6).sqrt() - 1).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
