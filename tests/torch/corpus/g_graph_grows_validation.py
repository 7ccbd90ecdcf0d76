"""Losses of a validation are added up with their graphs: the nodes of every batch stay until the sum is a number."""

# expect: nothing
# rules: GT713 at line 21

import torch
import torch.nn as nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
criterion = nn.MSELoss()
optimizer = torch.optim.SGD(net.parameters(), 0.1)
batches = [(torch.randn(8, 4), torch.randn(8, 1)) for _ in range(4)]
test_batches = [(torch.randn(8, 4), torch.randn(8, 1)) for _ in range(4)]


def validate():
    net.eval()
    val_loss = 0.0
    for x, y in test_batches:
        val_loss += criterion(net(x), y)
    net.train()
    return val_loss.item() / len(test_batches)


for _ in range(2):
    for x, y in batches:
        optimizer.zero_grad()
        criterion(net(x), y).backward()
        optimizer.step()
    print(f"{validate():.1f}")
