"""Reentrant checkpointing: the parameters inside get their gradients from a pass that runs inside of the pass."""
# expect: nothing

import torch
from torch.utils.checkpoint import checkpoint

torch.manual_seed(0)
body, head = torch.nn.Linear(3, 4), torch.nn.Linear(4, 1)
opt = torch.optim.SGD([*body.parameters(), *head.parameters()], lr=0.1)
for step in range(2):
    x = torch.randn(5, 3, requires_grad=True)
    h = checkpoint(lambda t: torch.tanh(body(t)), x, use_reentrant=True)
    loss = (head(h) - 1).square().mean()
    loss.backward()
    opt.step()
    opt.zero_grad()
