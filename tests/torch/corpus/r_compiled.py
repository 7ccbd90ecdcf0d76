"""A module and a function that are compiled run under the recorder as they stand."""

# expect: nothing

import torch
import torch.nn as nn
import torch.nn.functional as F


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.head = nn.Linear(6, 12), nn.Linear(12, 3)

    def forward(self, x):
        return self.head(torch.relu(self.body(x)))


@torch.compile
def distance(scores, y):
    return F.cross_entropy(scores, y)


net = torch.compile(Net(), mode="reduce-overhead")
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _step in range(2):
    loss = distance(net(torch.randn(8, 6)), torch.randint(0, 3, (8,)))
    opt.zero_grad()
    loss.backward()
    opt.step()
