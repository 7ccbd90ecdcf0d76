"""Gradients of two losses are read, cleared and put together."""

# expect: nothing

import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 2))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(4):
    x = torch.randn(16, 6)
    out = net(x)
    losses = [(out[:, 0] - x.sum(1)).pow(2).mean(), (out[:, 1] - x[:, 0]).pow(2).mean()]
    grads = []
    for loss in losses:
        opt.zero_grad()
        loss.backward(retain_graph=True)
        grads.append([p.grad.clone() for p in net.parameters()])
    for p, a, b in zip(net.parameters(), *grads):
        dot = (a * b).sum()
        p.grad = a + (b - dot / a.pow(2).sum() * a if dot < 0 else b)
    nn.utils.clip_grad_norm_(net.parameters(), 5.0)
    opt.step()
