"""Two groups were meant, with and without decay: the biases and scales are in neither."""

# expect: NOT_LISTED net.0.bias at line 11

import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 8), nn.LayerNorm(8), nn.ReLU(), nn.Linear(8, 3))
decayed = [p for name, p in net.named_parameters() if p.ndim > 1]
optimizer = torch.optim.AdamW([{"params": decayed, "weight_decay": 0.1}], 1e-2)
for _ in range(2):
    optimizer.zero_grad()
    nn.functional.cross_entropy(net(torch.randn(8, 4)), torch.randint(0, 3, (8,))).backward()
    optimizer.step()
