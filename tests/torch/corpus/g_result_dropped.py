"""Statements give new tensors that nothing reads: the model computes as if they were not there."""

# expect: nothing
# rules: GT113 at line 31 ; GT113 at line 32 ; GT113 at line 33 ; GT113 at line 34 ; GT113 at line 35 ; GT113 at line 36

import torch
import torch.nn as nn
import torch.nn.functional as F


class Gate(nn.Module):
    def forward(self, x):
        out = torch.sigmoid(x)
        return out


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(4, 8)
        self.act = nn.ReLU()
        self.gate = Gate()
        self.head = nn.Linear(8, 1)

    def scaled(self, h):
        return h / h.norm()

    def forward(self, x):
        h = self.body(x)
        # Each of the next lines drops what it computes.
        self.act(h)
        self.gate(h)
        self.scaled(h)
        h.clip(0, 1)
        h.detach()
        h / 2
        return self.head(h)


torch.manual_seed(0)
net = Net()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _step in range(2):
    opt.zero_grad()
    loss = F.mse_loss(net(torch.randn(8, 4)), torch.randn(8, 1))
    loss.backward()
    opt.step()
