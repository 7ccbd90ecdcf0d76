"""Statements without a name that change, keep, print or test something; and one that drops what hooks have kept."""

# expect: nothing

import torch
import torch.nn as nn
import torch.nn.functional as F


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.mid, self.head = nn.Linear(4, 8), nn.Linear(8, 8), nn.Linear(8, 1)
        self.tail = nn.Sequential(self.mid, nn.ReLU())
        self.features = []
        self.cache = {}
        self.mid.register_forward_hook(lambda layer, given, out: self.features.append(out))
        self.register_buffer("mean", torch.zeros(8))

    def keep(self, h):
        self.kept = h.detach()
        return self.kept

    def forward(self, x):
        h = self.body(x).clone()
        h.add_(torch.ones(8))
        F.relu(h, inplace=True)
        self.keep(h)
        self.cache.update(h=F.relu(h))
        self.mean.mul_(0.9).add_(h.detach().mean(0), alpha=0.1)
        repr(h)
        h.tolist()
        h.argmax(-1)
        torch._assert(bool((h == h).all()), "not a number")
        torch.testing.assert_close(h, h)
        with torch.no_grad():
            F.relu(h)
        self.tail(h)
        return self.head(self.features.pop())


torch.manual_seed(0)
net = Net()
net(torch.randn(8, 4))
net.features.clear()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _step in range(2):
    opt.zero_grad()
    loss = F.mse_loss(net(torch.randn(8, 4)), torch.randn(8, 1))
    loss.backward(retain_graph=True)
    torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    opt.step()
