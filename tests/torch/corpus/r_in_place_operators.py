"""Operators that write: by places, by masks, along an axis, into results that are given."""

# expect: nothing

import torch


class Doubled(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, gradient):
        return gradient * 2


w = torch.nn.Parameter(torch.tensor([1.0, 2.0, 3.0, 4.0]))
x = torch.arange(16.0).view(4, 4) / 10
h = Doubled.apply(w) * x
h.index_put_((torch.tensor([0, 1]),), w * 3)
h.scatter_(1, torch.tensor([[0], [1], [2], [3]]), w.view(4, 1) * 5)
h.masked_fill_(x > 1.2, 0.5)
h.index_add_(0, torch.tensor([1]), w.view(1, 4))
h[:, 1] += w.exp()
h[x < 0.25] = w[:3]
h.t().mul_(w)
h.view(-1)[3:7].sub_(w)
h.transpose_(0, 1)
h.masked_scatter_(x > 1.0, w.repeat(2))
buffer = torch.empty(4, 4)
torch.mul(x, 3, out=buffer)
loss = (torch.stack([h * buffer, h * 2]) / 10).mean()
loss.backward()
