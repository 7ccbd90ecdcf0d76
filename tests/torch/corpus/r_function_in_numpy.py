"""A right Function that computes with NumPy: nobody can repeat it, and nothing is said against it."""

# expect: nothing

import numpy as np
import torch


class Sine(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return torch.from_numpy(np.sin(x.detach().numpy()))

    @staticmethod
    def backward(ctx, gradient):
        (x,) = ctx.saved_tensors
        return gradient * torch.from_numpy(np.cos(x.detach().numpy()))


w = torch.nn.Parameter(torch.tensor([1.0, 2.0, 3.0]))
loss = (Sine.apply(w) ** 2).sum()
loss.backward()
