"""A character model: embedding, LSTM, linear."""

import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)


class Characters(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(64, 64)
        self.lstm = nn.LSTM(64, 128, num_layers=2, batch_first=True)
        self.head = nn.Linear(128, 64)

    def forward(self, ids):
        return self.head(self.lstm(self.embed(ids))[0])


model = Characters()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
text = torch.randint(64, (32 * 65 * 40,)).view(40, 32, 65)
for ids in text:
    loss = F.cross_entropy(model(ids[:, :-1]).flatten(0, 1), ids[:, 1:].flatten())
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    optimizer.zero_grad()
print(loss.item())
