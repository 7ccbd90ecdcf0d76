"""A Function's backward returns zeros."""

# expect: TIMES_ZERO net.weight at line 17

import torch
import torch.nn as nn
import torch.nn.functional as F


class Sign(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return torch.sign(x)

    @staticmethod
    def backward(ctx, gradient):
        return torch.zeros_like(gradient)


net, head = nn.Linear(4, 8), nn.Linear(8, 1)
loss = head(Sign.apply(net(torch.randn(8, 4)))).square().mean()
loss.backward()
