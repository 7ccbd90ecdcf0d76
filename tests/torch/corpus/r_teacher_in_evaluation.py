"""A frozen teacher in evaluation mode."""

# expect: nothing

import torch
import torch.nn as nn

torch.manual_seed(0)
teacher = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.Linear(8, 2)).requires_grad_(False).eval()
student = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.Linear(8, 2))
optimizer = torch.optim.SGD(student.parameters(), 0.1)
for _ in range(3):
    x = torch.randn(8, 4)
    loss = (student(x) - teacher(x)).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
