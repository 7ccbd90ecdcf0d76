"""The optimizer holds frozen parameters alone, and its steps go on."""

# expect: STOP_GRADIENT net.0.weight at line 7

import torch
net = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 3))
net.requires_grad_(False)
opt = torch.optim.Adam(net.parameters())
x = torch.randn(16, 4, requires_grad=True)
for i in range(3):
    loss = torch.nn.functional.cross_entropy(net(x), torch.randint(3, (16,)))
    opt.zero_grad()
    loss.backward()
    opt.step()
