"""A checkpoint whose input takes no gradient cuts the segment off."""

# expect: NO_INPUT body.weight at line 12

import torch
import torch.nn as nn
import torch.nn.functional as F

from torch.utils.checkpoint import checkpoint

body, head = nn.Linear(4, 8), nn.Linear(8, 1)
h = checkpoint(lambda x: torch.tanh(body(x)), torch.randn(8, 4), use_reentrant=True)
loss = head(h).square().mean()
loss.backward()
