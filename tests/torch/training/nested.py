"""Sequences of different lengths in one nested tensor."""
import torch
import torch.nn as nn

torch.manual_seed(0)
embed, body, head = nn.Embedding(20, 8), nn.Linear(8, 8), nn.Linear(8, 2)
optimizer = torch.optim.Adam([*embed.parameters(), *body.parameters(), *head.parameters()], lr=1e-2)
for step in range(3):
    lengths = [3, 5, 4]
    sequences = [embed(torch.randint(0, 20, (n,))) for n in lengths]
    nested = torch.nested.as_nested_tensor(sequences)
    hidden = torch.relu(body(nested))
    padded = torch.nested.to_padded_tensor(hidden, 0.0)
    pooled = padded.sum(1) / torch.tensor(lengths)[:, None]
    loss = nn.functional.cross_entropy(head(pooled), torch.tensor([0, 1, 0]))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
