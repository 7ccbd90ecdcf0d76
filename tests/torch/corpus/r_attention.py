"""A layer of a transformer."""

# expect: nothing

import torch
import torch.nn as nn
import torch.nn.functional as F

net = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=True)
opt = torch.optim.AdamW(net.parameters(), lr=1e-3)
for _step in range(2):
    x = torch.randn(2, 5, 8)
    loss = F.mse_loss(net(x), x.flip(1))
    opt.zero_grad()
    loss.backward()
    opt.step()
