"""What is to be predicted is the input reversed, and positions are added to it: they are no other data."""

# expect: nothing

import torch
import torch.nn.functional as F
from torch import nn


class Positions(nn.Module):
    def __init__(self, width, steps=16):
        super().__init__()
        time = torch.arange(steps)[:, None].float()
        rate = torch.exp(torch.arange(0, width, 2) * (-9.2 / width))
        self.register_buffer("table", torch.cat([(time * rate).sin(), (time * rate).cos()], 1))

    def forward(self, x):
        return x + self.table[: x.shape[1]]


class Reverser(nn.Module):
    def __init__(self):
        super().__init__()
        self.tokens, self.positions = nn.Embedding(20, 16), Positions(16)
        self.mixer = nn.TransformerEncoderLayer(16, 2, 32, batch_first=True, dropout=0.0)
        self.head = nn.Linear(16, 20)

    def forward(self, x):
        return self.head(self.mixer(self.positions(self.tokens(x))))


torch.manual_seed(0)
net = Reverser()
optimizer = torch.optim.Adam(net.parameters(), 1e-3)
for _ in range(3):
    x = torch.randint(0, 20, (6, 12))
    loss = F.cross_entropy(net(x).flatten(0, 1), x.flip(1).flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
