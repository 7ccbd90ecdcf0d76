"""A reversed gradient is no derivative, on purpose: domains that are not to be told apart."""

# expect: nothing

import torch
from torch import nn


class Reverse(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, strength):
        ctx.strength = strength
        return x.view_as(x)

    @staticmethod
    def backward(ctx, grad):
        return -ctx.strength * grad, None


torch.manual_seed(0)
body, label, domain = nn.Sequential(nn.Linear(6, 8), nn.ReLU()), nn.Linear(8, 3), nn.Linear(8, 2)
optimizer = torch.optim.Adam([*body.parameters(), *label.parameters(), *domain.parameters()])
loss_of = nn.functional.cross_entropy
for _ in range(2):
    h = body(torch.randn(9, 6))
    labels, domains = torch.arange(9) % 3, torch.arange(9) % 2
    loss = loss_of(label(h), labels) + loss_of(domain(Reverse.apply(h, 0.5)), domains)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
