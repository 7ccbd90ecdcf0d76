
import torch
import torch.nn as nn

torch.manual_seed(0)
teacher = nn.Sequential(nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.Flatten(), nn.Linear(144, 2))
teacher.requires_grad_(False)
student = nn.Sequential(nn.Flatten(), nn.Linear(64, 2))
optimizer = torch.optim.SGD(student.parameters(), 0.1)


for _ in range(3):
    x = torch.randn(4, 1, 8, 8)
    optimizer.zero_grad()
    with torch.no_grad():
        target = teacher(x)
    loss = (student(x) - target).square().mean()
    loss.backward()
    optimizer.step()
