"""Each of four layers is trained by its own optimizer: a list holds the losses of one step, then of the next."""

# expect: nothing

import torch
import torch.nn as nn

torch.manual_seed(0)
layers = [nn.Linear(4, 4) for _ in range(4)]
optimizers = [torch.optim.SGD(layer.parameters(), 0.1) for layer in layers]
for _ in range(4):
    x, losses = torch.randn(8, 4), []
    for layer, optimizer in zip(layers, optimizers):
        x = torch.tanh(layer(x.detach()))
        loss = (x - 0.5).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss)
