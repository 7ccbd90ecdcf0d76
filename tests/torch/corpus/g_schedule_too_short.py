"""A cosine that is over in the first epoch and rises again."""

# expect: nothing
# rules: GT717 at line 15

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3))
optimizer = torch.optim.SGD(net.parameters(), 0.1)
x = torch.randn(16, 4)
loader = DataLoader(TensorDataset(x, (x[:, 0] > 0).long()), batch_size=4)
scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=3)
for epoch in range(3):
    for inputs, labels in loader:
        optimizer.zero_grad()
        nn.functional.cross_entropy(net(inputs), labels).backward()
        optimizer.step()
        scheduler.step()
