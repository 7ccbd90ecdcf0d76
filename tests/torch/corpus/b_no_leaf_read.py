"""The script reads the gradient of what was scaled after it was made: a result, no leaf."""

# expect: NOT_RETAINED w at line 8

import torch

torch.manual_seed(0)
w = torch.randn(3, requires_grad=True) * 0.1
x = torch.randn(8, 3)
loss = (x @ w - 1).square().mean()
loss.backward()
if w.grad is not None:
    w.data -= 0.1 * w.grad
