"""Parameters are updated by hand, and gradients zeroed in place."""

# expect: nothing

import torch
import torch.nn as nn
import torch.nn.functional as F

weight = torch.randn(4, 1, requires_grad=True)
for _step in range(3):
    loss = (torch.randn(8, 4) @ weight).square().mean()
    loss.backward()
    with torch.no_grad():
        weight -= 0.1 * weight.grad
        weight.grad.zero_()
