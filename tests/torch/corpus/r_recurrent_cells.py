"""A recurrent layer multiplies its gates in place on the inside: what its operators keep is as they read it."""

# expect: nothing

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
tokens, cells, head = nn.Embedding(20, 16), nn.GRU(16, 16, batch_first=True), nn.Linear(16, 20)
optimizer = torch.optim.Adam([*tokens.parameters(), *cells.parameters(), *head.parameters()], 1e-3)
for _ in range(2):
    x = torch.randint(0, 20, (8, 7))
    out, state = cells(tokens(x[:, :3]))
    again, _ = cells(tokens(x[:, 3:6]), state)
    loss = F.cross_entropy(head(torch.cat([out, again], 1)).flatten(0, 1), x[:, 1:].flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
