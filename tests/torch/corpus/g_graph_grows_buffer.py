"""A buffer of the network follows a mean of the loss, which no backward uses."""

# expect: nothing
# rules: GT713 at line 21

import torch
import torch.nn as nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 1)
        self.register_buffer("mean", torch.zeros(()))

    def forward(self, x):
        return self.fc(x)

    def follow(self, loss):
        """Move the mean a little."""
        self.mean = 0.9 * self.mean + 0.1 * loss


torch.manual_seed(0)
net = Net()
optimizer = torch.optim.SGD(net.parameters(), 0.1)
for _ in range(6):
    loss = net(torch.randn(8, 4)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    net.follow(loss)
