"""Scores of distances are shifted by reshapes, as in Transformer-XL: the axes seem swapped, and are not."""

# expect: nothing

import torch
import torch.nn as nn

torch.manual_seed(0)
query, key, place = nn.Linear(8, 8), nn.Linear(8, 8), nn.Linear(8, 8)
x, distances = torch.randn(2, 6, 8), torch.randn(12, 8)
q, k = query(x), key(x)
shift = q @ place(distances).t()
b, i, j = shift.shape
shift = shift.reshape(b, j, i)[:, 1:, :].reshape(b, i, j - 1)[:, :, :i]
scores = (q @ k.transpose(1, 2) + shift).softmax(-1)
loss = (scores @ x).square().mean()
loss.backward()
