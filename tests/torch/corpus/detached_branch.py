"""A branch is detached."""

# expect: DETACHED net.right.weight at line 19

import torch
import torch.nn as nn
import torch.nn.functional as F


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.left = nn.Linear(4, 8)
        self.right = nn.Linear(4, 8)
        self.head = nn.Linear(8, 1)

    def forward(self, x):
        a = torch.relu(self.left(x))
        b = torch.tanh(self.right(x)).detach()
        return self.head(a * b)


torch.manual_seed(0)
net = Net()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(3):
    x = torch.randn(16, 4)
    y = x.sum(1, keepdim=True)
    opt.zero_grad()
    loss = F.mse_loss(net(x), y)
    loss.backward()
    opt.step()
