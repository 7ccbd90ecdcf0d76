"""Hooks make every gradient zero, and one step has nothing to go by."""

# expect: nothing
# rules: GT702 at line 10 ; GT703 at line 12
import torch

torch.manual_seed(0)
net = torch.nn.Linear(4, 2)
for parameter in net.parameters():
    parameter.register_hook(lambda g: g * 0)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
loss = net(torch.randn(6, 4)).square().mean()
optimizer.zero_grad()
loss.backward()
optimizer.step()
