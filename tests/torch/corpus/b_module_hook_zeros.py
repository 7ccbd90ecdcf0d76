"""A backward hook of a module gives zeros in place of the gradients of its inputs."""

# expect: TIMES_ZERO net.0.weight at line 19

import torch
import torch.nn as nn

net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))


def silenced(module, gradients, arriving):
    """What goes on from the module."""
    return tuple(None if g is None else torch.zeros_like(g) for g in gradients)


net[2].register_full_backward_hook(silenced)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _step in range(2):
    loss = ((net(torch.randn(8, 4)) - torch.randn(8, 2)) ** 2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
