"""A physics-informed loss whose second derivative is zero, since relu is made of straight pieces."""

# expect: TIMES_ZERO a.weight at line 11

import torch
torch.manual_seed(0)
a, b = torch.nn.Linear(1, 8), torch.nn.Linear(8, 1)
opt = torch.optim.Adam([*a.parameters(), *b.parameters()])
x = torch.linspace(0, 1, 10).reshape(-1, 1).requires_grad_()
for i in range(3):
    u = b(torch.nn.functional.relu(a(x)))
    ux = torch.autograd.grad(u.sum(), x, create_graph=True)[0]
    uxx = torch.autograd.grad(ux.sum(), x, create_graph=True)[0]
    loss = (uxx + 1).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
