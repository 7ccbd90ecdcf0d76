"""The twin of a script that scales a leaf: what is scaled is made a leaf afterwards."""

# expect: nothing

import torch

torch.manual_seed(0)
w = (torch.randn(3) * 0.1).requires_grad_()
h = torch.randn(8, 3) @ w
h.retain_grad()
loss = (h - 1).square().mean()
loss.backward()
print(w.grad, h.grad)
