"""Dropout over steps of which only the last one is read: what would drop the others has no influence, as it is meant."""

# expect: nothing

import torch
from torch import nn

torch.manual_seed(0)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.drop, self.head = nn.Conv1d(2, 4, 3, padding=2), nn.Dropout(0.2), nn.Linear(4, 1)

    def forward(self, x):
        return self.head(self.drop(self.conv(x))[:, :, -1])


net = Net()
opt = torch.optim.Adam(net.parameters(), 0.01)
for _ in range(3):
    x = torch.randn(8, 2, 8)
    loss = ((net(x) - x.sum((1, 2))[:, None]) ** 2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
