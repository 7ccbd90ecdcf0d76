"""Batch norm that is written out: what it keeps of the batch is for evaluation."""

# expect: nothing
import torch
import torch.nn as nn
import torch.nn.functional as F


class Norm(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.scale, self.shift = nn.Parameter(torch.ones(size)), nn.Parameter(torch.zeros(size))
        self.register_buffer("mean", torch.zeros(size))
        self.register_buffer("variance", torch.ones(size))

    def forward(self, x):
        if self.training:
            mean, variance = x.mean(0), x.var(0, unbiased=False)
            with torch.no_grad():
                self.mean.mul_(0.9).add_(0.1 * mean)
                self.variance = 0.9 * self.variance + 0.1 * variance
        else:
            mean, variance = self.mean, self.variance
        return (x - mean) / (variance + 1e-5).sqrt() * self.scale + self.shift


torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 8), Norm(8), nn.ReLU(), nn.Linear(8, 3))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(3):
    loss = F.cross_entropy(net(torch.randn(6, 4)), torch.randint(0, 3, (6,)))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
