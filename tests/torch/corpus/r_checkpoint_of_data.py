"""Checkpoints whose first input is data: without re-entrance, or with an input that takes a gradient."""

# expect: nothing

import torch
import torch.nn as nn
import torch.nn.functional as F

from torch.utils.checkpoint import checkpoint

one, body, head = nn.Linear(4, 8), nn.Linear(4, 8), nn.Linear(8, 1)
g = checkpoint(lambda x: torch.tanh(one(x)), torch.randn(8, 4), use_reentrant=False)
h = checkpoint(lambda x: torch.tanh(body(x)), torch.randn(8, 4).requires_grad_(), use_reentrant=True)
loss = head(g + h).square().mean()
loss.backward()
