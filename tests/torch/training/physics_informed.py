"""A differential equation as the loss, with derivatives of the network by its input."""
import torch
import torch.nn as nn

torch.manual_seed(0)


class PINN(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 16), nn.Tanh(), nn.Linear(16, 1))

    def forward(self, x, t):
        return self.net(torch.cat([x, t], dim=1))


def residual(model, x, t, nu=0.01):
    x.requires_grad_(True)
    t.requires_grad_(True)
    u = model(x, t)
    u_t = torch.autograd.grad(u, t, torch.ones_like(u), create_graph=True)[0]
    u_x = torch.autograd.grad(u, x, torch.ones_like(u), create_graph=True)[0]
    u_xx = torch.autograd.grad(u_x, x, torch.ones_like(u_x), create_graph=True)[0]
    return u_t + u * u_x - nu * u_xx


model = PINN()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for epoch in range(4):
    optimizer.zero_grad()
    x0, t = torch.rand(24, 1) * 2 - 1, torch.rand(24, 1)
    initial = model(x0, torch.zeros_like(x0)) + torch.sin(torch.pi * x0)
    edge = model(torch.cat([-torch.ones(8, 1), torch.ones(8, 1)]), torch.rand(16, 1))
    f = residual(model, torch.rand(24, 1) * 2 - 1, t)
    loss = (initial**2).mean() + (edge**2).mean() + (f**2).mean()
    loss.backward()
    optimizer.step()
    print(epoch, loss.item())
