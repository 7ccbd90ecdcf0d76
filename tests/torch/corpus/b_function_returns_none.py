"""A Function gives no gradient for its input."""

# expect: NON_DIFFERENTIABLE net.weight at line 17

import torch
import torch.nn as nn
import torch.nn.functional as F


class Twice(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, gradient):
        return None


net, head = nn.Linear(4, 8), nn.Linear(8, 1)
loss = head(Twice.apply(net(torch.randn(8, 4)))).square().mean()
loss.backward()
