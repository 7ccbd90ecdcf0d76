"""After the first validation nobody calls train()."""

# expect: nothing
# rules: GT707 at line 20

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Dropout(0.5), nn.Linear(8, 3))
optimizer = torch.optim.Adam(net.parameters(), 1e-2)
x, y = torch.rand(6, 4), torch.tensor([0, 1, 2, 0, 1, 2])

for _ in range(3):
    optimizer.zero_grad()
    loss = F.cross_entropy(net(x), y)
    loss.backward()
    optimizer.step()
    net.eval()
    with torch.no_grad():
        right = (net(x).argmax(dim=1) == y).float().mean()
