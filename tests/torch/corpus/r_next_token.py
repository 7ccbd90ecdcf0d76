"""A language model predicts the next token of the sequence that it reads."""

# expect: nothing

import torch
import torch.nn as nn
import torch.nn.functional as F

table, head = nn.Embedding(20, 8), nn.Linear(8, 20)
opt = torch.optim.Adam([*table.parameters(), *head.parameters()], lr=0.001)
for _step in range(2):
    tokens = torch.randint(0, 20, (4, 7))
    scores = head(table(tokens[:, :-1]))
    loss = F.cross_entropy(scores.flatten(0, 1), tokens[:, 1:].flatten())
    opt.zero_grad()
    loss.backward()
    opt.step()
