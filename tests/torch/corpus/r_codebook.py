"""A codebook: its vectors learn where the encoder is, the encoder to stay there, the decoder gets values straight through."""

# expect: nothing

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
encoder, codebook, decoder = nn.Linear(12, 8), nn.Embedding(16, 8), nn.Linear(8, 12)
optimizer = torch.optim.Adam([*encoder.parameters(), *codebook.parameters(), *decoder.parameters()], 1e-3)
for _ in range(2):
    x = torch.randn(32, 12)
    z = encoder(x)
    nearest = codebook(torch.cdist(z, codebook.weight).argmin(1))
    near = F.mse_loss(nearest, z.detach()) + 0.25 * F.mse_loss(nearest.detach(), z)
    straight = z + (nearest - z).detach()
    loss = F.mse_loss(decoder(straight), x) + near
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
