"""Both factors of a low-rank update start at zero."""

# expect: TIMES_ZERO net.A at line 12 ; TIMES_ZERO net.B at line 14

import torch
torch.manual_seed(0)
class LoRA(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.base = torch.nn.Linear(4, 4).requires_grad_(False)
        self.A = torch.nn.Parameter(torch.zeros(2, 4))
        self.B = torch.nn.Parameter(torch.zeros(4, 2))
    def forward(self, x):
        return self.base(x) + x @ self.A.t() @ self.B.t()
net = LoRA()
opt = torch.optim.SGD(net.parameters(), 0.1)
for i in range(4):
    loss = net(torch.randn(16, 4)).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
