"""Weights that adapt in one step, with gradients of gradients, after MAML."""
import torch
import torch.nn.functional as F

torch.manual_seed(0)
w1, b1 = torch.randn(1, 16, requires_grad=True), torch.zeros(16, requires_grad=True)
w2, b2 = (torch.randn(16, 1) * 0.1).requires_grad_(), torch.zeros(1, requires_grad=True)
params = [w1, b1, w2, b2]
optimizer = torch.optim.Adam(params, lr=1e-3)


def net(x, p):
    return F.relu(x @ p[0] + p[1]) @ p[2] + p[3]


for step in range(4):
    meta_loss = 0.0
    optimizer.zero_grad()
    for task in range(3):
        amplitude, phase = torch.rand(1) * 4 + 1, torch.rand(1) * 3
        x_support, x_query = torch.rand(8, 1) * 10 - 5, torch.rand(8, 1) * 10 - 5
        y_support, y_query = amplitude * torch.sin(x_support + phase), amplitude * torch.sin(x_query + phase)
        inner_loss = F.mse_loss(net(x_support, params), y_support)
        grads = torch.autograd.grad(inner_loss, params, create_graph=True)
        adapted = [p - 0.01 * g for p, g in zip(params, grads)]
        meta_loss = meta_loss + F.mse_loss(net(x_query, adapted), y_query)
    meta_loss = meta_loss / 3
    meta_loss.backward()
    optimizer.step()
    print(step, meta_loss.item())
