"""A dispatch mode of the script hears each operator that torch computes, and no other: not what gradtool reads."""

# expect: nothing

import torch
from torch.utils._python_dispatch import TorchDispatchMode

heard = []


class Hears(TorchDispatchMode):
    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        heard.append(str(function))
        return function(*args, **(kwargs or {}))


torch.manual_seed(0)
model = torch.nn.Linear(3, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
with Hears():
    for step in range(2):
        x = torch.randn(4, 3)
        noise = torch.zeros_like(x).normal_() + torch.full((1,), 0.1)
        loss = (model(x + noise) ** 2).mean()
        optimizer.zero_grad()
        loss.backward(torch.ones(()))
        optimizer.step()
        loss.item()
    drawn = torch.arange(3.0).requires_grad_()
    (drawn ** 3).sum().backward(create_graph=True)
    torch.autograd.grad((drawn * drawn.new_ones(3)).sum(), drawn)
model.zero_grad()
(model(torch.ones(1, 3)) ** 2).sum().backward()
