"""The same with is_causal."""

# expect: nothing

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
        pass
        return self.out(F.scaled_dot_product_attention(q, k, v, is_causal=True))


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
