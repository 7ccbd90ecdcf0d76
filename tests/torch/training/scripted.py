"""A module that is scripted and another one that is traced."""
import torch
import torch.nn as nn


class Gate(nn.Module):
    def __init__(self, n: int):
        super().__init__()
        self.value = nn.Linear(n, n)
        self.gate = nn.Linear(n, n)

    def forward(self, x: torch.Tensor, flip: bool = False) -> torch.Tensor:
        g = torch.sigmoid(self.gate(x))
        if flip:
            g = 1 - g
        return g * self.value(x) + (1 - g) * x


torch.manual_seed(0)
scripted = torch.jit.script(Gate(6))
traced = torch.jit.trace(nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 1)), torch.randn(2, 6))
optimizer = torch.optim.Adam([*scripted.parameters(), *traced.parameters()], lr=1e-2)
for step in range(4):
    x = torch.randn(16, 6)
    optimizer.zero_grad()
    loss = ((traced(scripted(x)) - x.sum(1, keepdim=True)) ** 2).mean()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
