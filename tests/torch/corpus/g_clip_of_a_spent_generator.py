"""What the optimizer has read is empty where gradients are clipped."""

# expect: nothing
# rules: GT712 at line 18

import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(10, 32), nn.Tanh(), nn.Linear(32, 1))
params = model.parameters()
optimizer = torch.optim.Adam(params, lr=1e-3)
for step in range(5):
    x, y = torch.randn(16, 10), torch.randn(16, 1)
    optimizer.zero_grad()
    loss = ((model(x) - y) ** 2).mean()
    loss.backward()
    torch.nn.utils.clip_grad_norm_(params, 0.5)
    optimizer.step()
