"""A teacher inside of the network is called under no_grad alone, and train() of the network reaches it."""

# expect: nothing
# rules: GT714 at line 19

import torch
import torch.nn as nn


class Distilled(nn.Module):
    def __init__(self):
        super().__init__()
        self.teacher = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.Linear(8, 2)).requires_grad_(False)
        self.student = nn.Linear(4, 2)

    def forward(self, x):
        predicted = self.student(x)
        with torch.no_grad():
            target = self.teacher(x)
        return (predicted - target).square().mean()


torch.manual_seed(0)
net = Distilled()
optimizer = torch.optim.SGD(net.student.parameters(), 0.1)
for _ in range(3):
    net.train()
    loss = net(torch.randn(8, 4))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
