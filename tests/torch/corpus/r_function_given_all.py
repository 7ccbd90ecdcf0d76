"""A function of one's own is given all that it reads."""

# expect: nothing

import torch
import torch.nn as nn


class Doubled(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, weight):
        ctx.save_for_backward(x, weight)
        return x @ weight.t() * 2

    @staticmethod
    def backward(ctx, g):
        x, weight = ctx.saved_tensors
        return g @ weight * 2, g.t() @ x * 2


body, head = nn.Linear(4, 8, bias=False), nn.Linear(8, 1)
data = torch.randn(8, 4)
h = Doubled.apply(data, body.weight)
loss = head(h).square().mean()
loss.backward()
