"""What a Function gives is written into a buffer, in part, through views of views, and through .data."""

# expect: nothing

import torch


class Times(torch.autograd.Function):
    @staticmethod
    def forward(ctx, w, x):
        ctx.save_for_backward(x)
        return x * w

    @staticmethod
    def backward(ctx, gradient):
        return gradient * ctx.saved_tensors[0], None


w = torch.nn.Parameter(torch.full((3,), 2.0))
w.data[0] = 5.0
w.data.mul_(0.5)
out = torch.zeros(4, 3)
out[0] = Times.apply(w, torch.tensor([1.0, 2.0, 3.0]))
row = out[1]
row.copy_(w.sin())
out[2, 1:] = w[1:] ** 2
out.narrow(1, 0, 1).add_(w.sum())
out.t()[2] += w.prod()
out[3] = out[0] + row
loss = (out * torch.arange(12.0).view(4, 3)).sum()
loss.backward()
