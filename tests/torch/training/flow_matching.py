"""Velocities between noise and data, after flow matching examples."""
import torch
from torch import Tensor, nn

torch.manual_seed(0)


class Flow(nn.Module):
    def __init__(self, dim: int = 2, h: int = 24):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(dim + 1, h), nn.ELU(), nn.Linear(h, h), nn.ELU(), nn.Linear(h, dim))

    def forward(self, t: Tensor, x_t: Tensor) -> Tensor:
        return self.net(torch.cat((t, x_t), -1))

    def step(self, x_t: Tensor, t_start: Tensor, t_end: Tensor) -> Tensor:
        t_start = t_start.view(1, 1).expand(x_t.shape[0], 1)
        half = x_t + self(t=t_start, x_t=x_t) * (t_end - t_start) / 2
        return x_t + (t_end - t_start) * self(t=t_start + (t_end - t_start) / 2, x_t=half)


flow = Flow()
optimizer = torch.optim.Adam(flow.parameters(), 1e-2)
loss_fn = nn.MSELoss()
for _ in range(8):
    angle = torch.rand(64) * 3.14
    x_1 = torch.stack((angle.cos(), angle.sin()), 1)
    x_0 = torch.randn_like(x_1)
    t = torch.rand(len(x_1), 1)
    x_t = (1 - t) * x_0 + t * x_1
    dx_t = x_1 - x_0
    optimizer.zero_grad()
    loss = loss_fn(flow(t=t, x_t=x_t), dx_t)
    loss.backward()
    optimizer.step()
    print(loss.item())
x, times = torch.randn(8, 2), torch.linspace(0, 1.0, 3)
for i in range(2):
    x = flow.step(x, times[i], times[i + 1])
print(x.abs().mean().item())
