"""cross_entropy is given probabilities, and makes probabilities of them once more."""

# expect: nothing
# rules: GT708 at line 17

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3), nn.Softmax(dim=-1))
optimizer = torch.optim.Adam(net.parameters(), 1e-2)
x, y = torch.rand(6, 4), torch.tensor([0, 1, 2, 0, 1, 2])

for _ in range(2):
    optimizer.zero_grad()
    loss = F.cross_entropy(net(x), y)
    loss.backward()
    optimizer.step()
