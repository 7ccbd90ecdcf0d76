"""A model that is trained to say the next step reads all steps: its attention has no mask, and steps stand first."""

# expect: nothing
# rules: GT602 at line 20

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
embed, head = nn.Embedding(20, 16), nn.Linear(16, 20)
encoder = nn.TransformerEncoderLayer(16, 2, 32, dropout=0.0)
optimizer = torch.optim.SGD([*embed.parameters(), *encoder.parameters(), *head.parameters()], 1e-2)
text = torch.randint(0, 20, (21, 4))

for start in (0, 10):
    optimizer.zero_grad()
    read, next_steps = text[start : start + 10], text[start + 1 : start + 11]
    h = embed(read)
    h = encoder(h)
    loss = F.cross_entropy(head(h).view(-1, 20), next_steps.reshape(-1))
    loss.backward()
    optimizer.step()
