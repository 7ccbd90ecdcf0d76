"""Buffers grow, are freed and come back, and go to memory that processes share; views of them go with them."""

# expect: nothing

import torch

torch.manual_seed(0)
model = torch.nn.Linear(3, 2).share_memory()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
results, largest, places = torch.zeros(1), torch.zeros(2), torch.zeros(2, dtype=torch.long)
first = results[:1]
window, rows = torch.ones(2), torch.empty(0)
corner = window.view(1, 2)
scratch = torch.arange(4.0)
tail = scratch[2:]
lent = torch.ones(2)
array = lent.numpy()
refused = []
for step in range(1, 4):
    x = torch.randn(2 * step, 3)
    loss = (model(x) ** 2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    with torch.no_grad():
        torch.mul(x[:, 0], 2, out=results)
        results[0] += step
        torch.max(x, 0, out=(largest, places))
        torch.cat([x, x], out=rows)
    window.resize_(2 * step, 2).fill_(step)
    scratch.untyped_storage().resize_(0)
    scratch.untyped_storage().resize_(16)
    scratch.copy_(torch.arange(4.0) * step)
    try:
        lent.untyped_storage().resize_(8 + step)
    except RuntimeError as error:
        refused.append(str(error))
loss = ((model(x)[:, 0] * results) + window.sum() + tail.sum() + first.sum() + corner.sum() + largest.sum()).sum()
loss.backward()
assert (first.item(), tail.tolist(), corner.tolist()) == (results[0].item(), [6.0, 9.0], [[3.0, 3.0]])
assert window.is_shared() is False and model.weight.is_shared()
