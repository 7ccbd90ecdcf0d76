"""A loss that has a sigmoid is given what one made."""

# expect: nothing
# rules: GT708 at line 25

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(12, 24), nn.Linear(24, 1)

    def forward(self, x):
        return torch.sigmoid(self.b(torch.relu(self.a(x)))).squeeze(1)


torch.manual_seed(0)
net = Net()
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
loss_fn = nn.BCEWithLogitsLoss()
for _ in range(4):
    x = torch.randn(32, 12)
    loss = loss_fn(net(x), (x[:, 0] > 0).float())
    opt.zero_grad()
    loss.backward()
    opt.step()
