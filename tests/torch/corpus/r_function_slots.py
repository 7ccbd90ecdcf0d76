"""Functions whose tensors of data, numbers and flags stand in any slot."""

# expect: nothing

import torch


class Scaled(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, factor, w, flag=None):
        out = x * w * factor
        ctx.factor = factor
        ctx.save_for_backward(w, out)
        return out, x + 1, w > 1.5

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, gradient, of_sum, of_mask):
        w, out = ctx.saved_tensors
        return of_sum, None, gradient * out / w, None


class Bent(torch.autograd.Function):
    @staticmethod
    def forward(x, w):
        return x.tanh() * w

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx, gradient):
        x, w = ctx.saved_tensors
        return gradient * w * (1 - x.tanh() ** 2), gradient * x.tanh()


class Tripled(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.mark_dirty(x)
        x.mul_(3)
        return x

    @staticmethod
    def backward(ctx, gradient):
        return gradient * 3


class Same(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x

    @staticmethod
    def backward(ctx, gradient):
        return gradient


w = torch.nn.Parameter(torch.tensor([1.0, 2.0, 3.0]))
x = torch.tensor([0.5, 0.25, 2.0])
scaled, more, mask = Scaled.apply(torch.ones(3), 3, w)
bent = Bent.apply(w, x) + Bent.apply(x, w)
tripled = Tripled.apply(w * x)
loss = (scaled + more + mask + bent + tripled + Same.apply(w)).sum()
loss.backward()
