"""A Function with the right gradient."""

# expect: nothing

import torch
import torch.nn as nn
import torch.nn.functional as F


class Cube(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    def backward(ctx, gradient):
        (x,) = ctx.saved_tensors
        return gradient * 3 * x * x


net = nn.Linear(4, 1)
loss = Cube.apply(net(torch.randn(8, 4))).square().mean()
loss.backward()
