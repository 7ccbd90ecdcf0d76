"""A scale of a residual branch starts at zero and is trained."""

# expect: nothing

import torch
torch.manual_seed(0)
class Block(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.f = torch.nn.Linear(4, 4)
        self.alpha = torch.nn.Parameter(torch.zeros(1))
    def forward(self, x):
        return x + self.alpha * torch.tanh(self.f(x))
net = torch.nn.Sequential(Block(), torch.nn.Linear(4, 1))
opt = torch.optim.SGD(net.parameters(), 0.1)
for i in range(5):
    loss = (net(torch.randn(16, 4)) - 1).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
