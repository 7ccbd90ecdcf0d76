"""A pass that keeps its graph, and an update that writes what the graph holds."""

# expect: nothing

import warnings

import torch
from torch import nn

warnings.simplefilter("ignore")  # torch advises autograd.grad
torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 1))
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
for _ in range(5):
    x = torch.randn(32, 4)
    loss = ((net(x) - x.sum(1, keepdim=True)) ** 2).mean()
    optimizer.zero_grad()
    loss.backward(create_graph=True)
    optimizer.step()
