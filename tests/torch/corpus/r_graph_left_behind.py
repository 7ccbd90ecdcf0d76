"""A memory of detached outputs, a mean by numbers, and gradients of several batches: nothing keeps a graph."""

# expect: nothing

import torch
import torch.nn as nn

torch.manual_seed(0)
net = nn.Linear(4, 2)
optimizer = torch.optim.SGD(net.parameters(), 0.1)
memory, mean, losses = [], torch.zeros(2), []
for step in range(12):
    out = net(torch.randn(8, 4))
    loss = (out - 1).pow(2).mean() / 2 + (torch.stack(memory) * out.mean(0)).mean() * 0.1 if memory else out.pow(2).mean()
    loss.backward()
    memory.append(out.detach().mean(0))
    mean = 0.9 * mean + 0.1 * out.detach().mean(0)
    losses.append(loss.item())
    if step % 2:
        optimizer.step()
        optimizer.zero_grad()
