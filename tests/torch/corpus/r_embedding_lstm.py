"""An embedding and an LSTM."""

# expect: nothing

import torch
import torch.nn as nn
import torch.nn.functional as F

table, cell, head = nn.Embedding(12, 4), nn.LSTM(4, 6, batch_first=True), nn.Linear(6, 12)
parameters = [*table.parameters(), *cell.parameters(), *head.parameters()]
opt = torch.optim.Adam(parameters)
for _step in range(2):
    tokens = torch.randint(0, 12, (3, 5))
    out, _ = cell(table(tokens[:, :-1]))
    loss = F.cross_entropy(head(out).reshape(-1, 12), tokens[:, 1:].reshape(-1))
    opt.zero_grad()
    loss.backward()
    opt.step()
