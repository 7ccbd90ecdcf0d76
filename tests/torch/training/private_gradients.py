"""Gradients of each sample, clipped and blurred, with torch.func."""
import torch
import torch.nn as nn
from torch.func import functional_call, grad, vmap

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 3))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)


def loss_of(params, x, y):
    logits = functional_call(model, params, (x.unsqueeze(0),))
    return nn.functional.cross_entropy(logits, y.unsqueeze(0))


per_sample = vmap(grad(loss_of), in_dims=(None, 0, 0))
for step in range(4):
    x = torch.randn(12, 8)
    y = x[:, :3].argmax(1)
    params = {k: v.detach() for k, v in model.named_parameters()}
    grads = per_sample(params, x, y)
    norms = torch.cat([g.flatten(1) for g in grads.values()], 1).norm(dim=1)
    scale = (1.0 / (norms + 1e-6)).clamp(max=1.0)
    for name, p in model.named_parameters():
        clipped = torch.einsum("n,n...->...", scale, grads[name])
        p.grad = (clipped + 0.1 * torch.randn_like(p)) / len(x)
    optimizer.step()
    optimizer.zero_grad()
    with torch.no_grad():
        print(step, nn.functional.cross_entropy(model(x), y).item())
