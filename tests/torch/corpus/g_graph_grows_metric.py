"""A metric is computed with its graph in a loop that updates by hand: all that it retains stays."""

# expect: nothing
# rules: GT713 at line 20


import torch
import torch.nn as nn

torch.manual_seed(0)
net = nn.Linear(4, 1)
error = torch.zeros(())
for _ in range(5):
    x, y = torch.randn(8, 4), torch.randn(8, 1)
    loss = (net(x) - y).pow(2).mean()
    net.zero_grad()
    loss.backward()
    with torch.no_grad():
        [p.sub_(0.1 * p.grad) for p in net.parameters()]
    error = error + (net(x) - y).abs().mean()
