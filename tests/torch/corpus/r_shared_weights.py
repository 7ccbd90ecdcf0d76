"""Two layers share a weight."""

# expect: nothing

import torch
import torch.nn as nn
import torch.nn.functional as F

table, head = nn.Embedding(6, 4), nn.Linear(4, 6, bias=False)
head.weight = table.weight
opt = torch.optim.SGD(head.parameters(), lr=0.1)
for _step in range(2):
    tokens = torch.randint(0, 6, (8,))
    loss = F.cross_entropy(head(torch.tanh(table(tokens))), tokens)
    opt.zero_grad()
    loss.backward()
    opt.step()
