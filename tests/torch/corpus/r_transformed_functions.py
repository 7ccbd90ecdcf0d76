"""vmap and jacrev around modules; what they give hangs on the graph like anything else."""

# expect: nothing

import torch
import torch.nn as nn

body, head = nn.Linear(4, 8), nn.Linear(8, 1)
opt = torch.optim.SGD([*body.parameters(), *head.parameters()], lr=0.1)
for _step in range(2):
    x, y = torch.randn(6, 4), torch.randn(6, 1)
    predicted = torch.func.vmap(lambda row: head(torch.tanh(body(row))))(x)
    _slope = torch.func.jacrev(lambda row: torch.tanh(body(row)).sum())(x[0])
    loss = ((predicted - y) ** 2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
