"""Examples that are moved along their gradients, and parameters that move along theirs: gradients as plain numbers."""
# expect: nothing

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3))
x = torch.rand(16, 4)
y = torch.randint(0, 3, (16,))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(2):
    at = x.clone().requires_grad_()
    (g,) = torch.autograd.grad(F.cross_entropy(net(at), y), [at])
    loss = F.cross_entropy(net(x), y) + F.cross_entropy(net(x + 0.1 * g.sign()), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
for _ in range(2):
    parameters = list(net.parameters())
    loss = F.cross_entropy(net(x), y)
    gradients = torch.autograd.grad(loss, parameters)
    with torch.no_grad():
        for p, gradient in zip(parameters, gradients, strict=True):
            p -= 0.1 * gradient
