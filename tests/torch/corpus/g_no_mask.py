"""A model of the next token has no mask: attention sees the token that it is to say."""

# expect: nothing
# rules: GT602 at line 22

import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(0)


class Attention(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.qkv = nn.Linear(d, 3 * d)
        self.out = nn.Linear(d, d)

    def forward(self, x):
        q, k, v = self.qkv(x).chunk(3, dim=-1)
        w = F.softmax(q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5, dim=-1)
        return self.out(w @ v)


class LM(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(20, 16)
        self.pos = nn.Embedding(8, 16)
        self.att = Attention(16)
        self.head = nn.Linear(16, 20)

    def forward(self, ids):
        h = self.embed(ids) + self.pos(torch.arange(ids.shape[1]))
        return self.head(h + self.att(h))


model = LM()
opt = torch.optim.AdamW(model.parameters(), 1e-3)
for step in range(3):
    text = torch.randint(0, 20, (4, 9))
    x, y = text[:, :-1], text[:, 1:]
    loss = F.cross_entropy(model(x).reshape(-1, 20), y.reshape(-1))
    opt.zero_grad()
    loss.backward()
    opt.step()
