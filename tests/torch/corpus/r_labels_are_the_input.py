"""The model shifts its labels itself: they are the tokens that it reads."""

# expect: nothing

import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(0)


class LM(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(20, 16)
        self.pos = nn.Embedding(8, 16)
        self.block = nn.TransformerEncoderLayer(16, 2, 32, dropout=0.0, batch_first=True)
        self.head = nn.Linear(16, 20)

    def forward(self, input_ids, labels=None):
        n = input_ids.shape[1]
        h = self.embed(input_ids) + self.pos(torch.arange(n))
        mask = nn.Transformer.generate_square_subsequent_mask(n)
        h = self.block(h, src_mask=mask, is_causal=True)
        logits = self.head(h)
        loss = None
        if labels is not None:
            loss = F.cross_entropy(logits[:, :-1].reshape(-1, 20), labels[:, 1:].reshape(-1))
        return loss, logits


model = LM()
opt = torch.optim.AdamW(model.parameters(), 1e-3)
for step in range(3):
    ids = torch.randint(0, 20, (4, 8))
    loss, _ = model(input_ids=ids, labels=ids)
    opt.zero_grad()
    loss.backward()
    opt.step()
