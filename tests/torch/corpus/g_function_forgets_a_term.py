"""The backward of a function of the user's own forgets a term."""

# expect: nothing
# rules: GT301 at line 28

import torch
from torch import nn


class Swish(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * torch.sigmoid(x)

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        s = torch.sigmoid(x)
        return grad * s * (1 - s)


torch.manual_seed(0)
first, last = nn.Linear(6, 16), nn.Linear(16, 3)
optimizer = torch.optim.SGD([*first.parameters(), *last.parameters()], lr=0.1)
for _ in range(3):
    x, y = torch.randn(16, 6), torch.randint(0, 3, (16,))
    loss = nn.functional.cross_entropy(last(Swish.apply(first(x))), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
