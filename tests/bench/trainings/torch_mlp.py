"""A multilayer perceptron on points in 64 dimensions, with validation."""

import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 10))
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
x = torch.randn(4096, 64)
y = (x[:, :10] + 0.1 * torch.randn(4096, 10)).argmax(1)
for epoch in range(10):
    net.train()
    for i in range(0, 3072, 128):
        loss = F.cross_entropy(net(x[i : i + 128]), y[i : i + 128])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    net.eval()
    with torch.no_grad():
        right = (net(x[3072:]).argmax(1) == y[3072:]).float().mean()
    print(epoch, loss.item(), right.item())
