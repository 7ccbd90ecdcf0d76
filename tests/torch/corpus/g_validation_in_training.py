"""Accuracy on data that was held out, with batch norm and dropout as in training: nobody calls eval()."""

# expect: nothing
# rules: GT718 at line 32

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Dropout(0.5))
        self.head = nn.Linear(8, 2)

    def forward(self, x):
        return self.head(self.body(x))


torch.manual_seed(0)
model = Net()
optimizer = torch.optim.SGD(model.parameters(), 0.05)
x, held_out = torch.randn(16, 4), torch.randn(8, 4)
for epoch in range(2):
    model.train()
    for batch in x.split(8):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(batch), (batch[:, 0] > 0).long())
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        correct = (model(held_out).argmax(1) == (held_out[:, 0] > 0)).sum().item()
