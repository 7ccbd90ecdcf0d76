"""A module gets an attribute that parameters have: it freezes nothing."""

# expect: nothing
# rules: GT702 at line 10
import torch
import torch.nn as nn

torch.manual_seed(0)
body, head = nn.Sequential(nn.Linear(4, 8), nn.ReLU()), nn.Linear(8, 2)
body.requires_grad = False
optimizer = torch.optim.SGD([*body.parameters(), *head.parameters()], lr=0.1)
for _ in range(3):
    loss = head(body(torch.randn(6, 4))).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
