"""A step inside of each step, with parameters that are computed from those of the model."""

# expect: nothing

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
net = nn.Linear(3, 1)
outer = torch.optim.SGD(net.parameters(), 0.1)
for _ in range(2):
    x, y = torch.rand(5, 3), torch.rand(5, 1)
    parameters = dict(net.named_parameters())
    first = F.mse_loss(net(x), y)
    gradients = torch.autograd.grad(first, list(parameters.values()), create_graph=True)
    inner = {name: p - 0.1 * g for (name, p), g in zip(parameters.items(), gradients, strict=True)}
    loss = F.mse_loss(torch.func.functional_call(net, inner, (x,)), y)
    outer.zero_grad()
    loss.backward()
    outer.step()
