"""A function keeps the outputs of all steps for a report, with their graphs."""

# expect: nothing
# rules: GT713 at line 20

import torch
import torch.nn as nn


def train(net, optimizer):
    history = {"outputs": [], "losses": []}
    for _ in range(5):
        out = net(torch.randn(8, 4))
        loss = out.pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        history["losses"].append(loss.item())
        # what is appended is not even read
        history["outputs"].append((out, loss.item()))
    return history["losses"]


torch.manual_seed(0)
model = nn.Linear(4, 1)
losses = train(model, torch.optim.SGD(model.parameters(), 0.1))
