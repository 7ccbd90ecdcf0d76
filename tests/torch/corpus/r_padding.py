"""An embedding whose padding is set to zero under no_grad."""

# expect: nothing

import torch
from torch import nn

torch.manual_seed(0)
table, head = nn.Embedding(20, 8, padding_idx=0), nn.Linear(8, 3)
optimizer = torch.optim.Adam([*table.parameters(), *head.parameters()])
for _ in range(2):
    tokens = torch.randint(1, 20, (6, 5))
    tokens[:3, 3:] = 0
    used = (tokens != 0)[..., None]
    pooled = (table(tokens) * used).sum(1) / used.sum(1)
    loss = nn.functional.cross_entropy(head(pooled), torch.tensor([0, 1, 2, 0, 1, 2]))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
