"""Traced, scripted and exported modules, and a function for torch._dynamo: they train as they would by themselves."""

# expect: nothing

import torch
import torch.nn as nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
x = torch.randn(5, 4)
traced = torch.jit.trace(net, x)
scripted = torch.jit.script(net)
exported = torch.export.export(net, (x,)).module()


@torch._dynamo.optimize("eager")
def squared(values):
    return values.pow(2).mean()


optimizer = torch.optim.SGD(net.parameters(), 0.1)
for _ in range(2):
    optimizer.zero_grad()
    loss = squared(traced(x)) + squared(scripted(x)) + squared(exported(x))
    loss.backward()
    optimizer.step()
