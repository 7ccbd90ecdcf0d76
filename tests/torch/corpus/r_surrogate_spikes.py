"""Spiking neurons with a surrogate gradient: some never fire, and what stays below the threshold changes nothing."""

# expect: nothing

import torch
from torch import nn


class Spike(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return (x > 0).float()

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return grad / (1 + 10 * x.abs()) ** 2


torch.manual_seed(0)
fc, readout = nn.Linear(10, 20), nn.Linear(20, 3)
opt = torch.optim.Adam([*fc.parameters(), *readout.parameters()], lr=1e-3)
for _ in range(1):
    xs, y = torch.rand(5, 8, 10) * 3, torch.randint(0, 3, (8,))
    mem, total = torch.zeros(8, 20), 0
    for x in xs:
        mem = 0.9 * mem + fc(x)
        s = Spike.apply(mem - 1.0)
        mem = mem - s.detach()
        total = total + readout(s)
    loss = nn.functional.cross_entropy(total / 12, y)
    opt.zero_grad()
    loss.backward()
    opt.step()
