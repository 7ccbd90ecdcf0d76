"""Gradients are asked for with iterators, which can be read once."""

# expect: nothing

import torch
import torch.nn as nn

torch.manual_seed(0)
net = nn.Linear(3, 2)
optimizer = torch.optim.SGD(net.parameters(), 0.1)
for _ in range(2):
    loss = net(torch.randn(4, 3)).square().mean()
    norm = sum(g.square().sum() for g in torch.autograd.grad(loss, net.parameters(), create_graph=True))
    optimizer.zero_grad()
    (loss + 0.1 * norm).backward(inputs=net.parameters())
    optimizer.step()
