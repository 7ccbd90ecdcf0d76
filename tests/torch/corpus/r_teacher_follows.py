"""A teacher that follows its student, with its parameters and its statistics."""

# expect: nothing

import copy

import torch
import torch.nn as nn

torch.manual_seed(0)
student = nn.Sequential(nn.Linear(4, 8, bias=False), nn.BatchNorm1d(8), nn.Linear(8, 2))
teacher = copy.deepcopy(student).requires_grad_(False)
optimizer = torch.optim.SGD(student.parameters(), 0.1)
for _ in range(4):
    x = torch.randn(8, 4)
    with torch.no_grad():
        target = teacher(x)
    loss = (student(x + torch.randn(8, 4)) - target).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    with torch.no_grad():
        for mine, other in zip(teacher.parameters(), student.parameters()):
            mine.data.mul_(0.9).add_(other, alpha=0.1)
        for mine, other in zip(teacher.buffers(), student.buffers()):
            mine.copy_(other)
