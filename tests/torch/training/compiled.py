"""A network under torch.compile with a step that is compiled as well."""
import torch
import torch.nn as nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(8, 16), nn.GELU(), nn.Linear(16, 3))
compiled = torch.compile(model, backend="eager")
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)


@torch.compile(backend="eager")
def loss_of(x, y):
    return nn.functional.cross_entropy(compiled(x), y)


for step in range(4):
    x = torch.randn(16, 8)
    loss = loss_of(x, x[:, :3].argmax(1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, round(loss.item(), 5))
