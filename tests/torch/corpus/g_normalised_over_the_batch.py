"""Features are shifted and divided by statistics of the batch in every mode."""

# expect: nothing
# rules: GT601 at line 17
import torch
import torch.nn as nn
import torch.nn.functional as F


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.head = nn.Linear(4, 8), nn.Linear(8, 3)

    def forward(self, x):
        h = self.body(x)
        h = (h - h.mean(dim=0)) / (h.std(dim=0) + 1e-5)
        return self.head(F.relu(h))


torch.manual_seed(0)
net = Net()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(3):
    loss = F.cross_entropy(net(torch.randn(6, 4)), torch.randint(0, 3, (6,)))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
