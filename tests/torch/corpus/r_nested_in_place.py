"""A nested tensor, which has no shape, is written in place."""

# expect: nothing

import torch
import torch.nn as nn

torch.manual_seed(0)
embed, head = nn.Embedding(20, 8), nn.Linear(8, 1)
rows = [embed(torch.randint(0, 20, (n,))) for n in (3, 5)]
nested = torch.nested.as_nested_tensor(rows)
nested *= 2
h = torch.nested.to_padded_tensor(nested, 0.0).sum(1)
loss = head(h).square().mean()
loss.backward()
