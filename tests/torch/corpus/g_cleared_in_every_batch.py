"""Gradients of four batches are to be added up, and are cleared in each."""

# expect: nothing
# rules: GT711 at line 15

import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 3))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
criterion = nn.CrossEntropyLoss()
accumulation_steps = 4
for i in range(16):
    optimizer.zero_grad()
    x, y = torch.randn(8, 10), torch.randint(0, 3, (8,))
    loss = criterion(model(x), y) / accumulation_steps
    loss.backward()
    if (i + 1) % accumulation_steps == 0:
        optimizer.step()
