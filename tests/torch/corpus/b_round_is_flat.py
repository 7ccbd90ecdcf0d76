"""round has a gradient of zero."""

# expect: NON_DIFFERENTIABLE net.body.weight at line 17

import torch
import torch.nn as nn
import torch.nn.functional as F


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(4, 8)
        self.head = nn.Linear(8, 1)

    def forward(self, x):
        h = torch.round(self.body(x))
        return self.head(h)


net = Net()

opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _step in range(2):
    x, y = torch.randn(8, 4), torch.randn(8, 1)
    opt.zero_grad()
    loss = F.mse_loss(net(x), y)
    loss.backward()
    opt.step()
