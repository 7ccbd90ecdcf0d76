"""Blocks that explain a series and pass on the rest, after N-BEATS."""
import torch
from torch import nn
from torch.nn import functional as F


class Block(nn.Module):
    def __init__(self, units, thetas_dim, backcast_length, forecast_length):
        super().__init__()
        self.fc1 = nn.Linear(backcast_length, units)
        self.fc2 = nn.Linear(units, units)
        self.theta_b_fc = nn.Linear(units, thetas_dim, bias=False)
        self.theta_f_fc = nn.Linear(units, thetas_dim, bias=False)
        self.backcast_fc = nn.Linear(thetas_dim, backcast_length)
        self.forecast_fc = nn.Linear(thetas_dim, forecast_length)

    def forward(self, x):
        x = F.relu(self.fc1(x))
        x = F.relu(self.fc2(x))
        return self.backcast_fc(self.theta_b_fc(x)), self.forecast_fc(self.theta_f_fc(x))


class NBeats(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList([Block(16, 4, 10, 5) for _ in range(3)])

    def forward(self, backcast):
        forecast = torch.zeros(backcast.size(0), 5)
        for block in self.blocks[:-1]:
            b, f = block(backcast)
            backcast = backcast - b
            forecast = forecast + f
        _, f = self.blocks[-1](backcast)
        return forecast + f


torch.manual_seed(0)
net = NBeats()
# what the last block would pass on is not needed
for layer in (net.blocks[-1].theta_b_fc, net.blocks[-1].backcast_fc):
    layer.requires_grad_(False)
optimizer = torch.optim.Adam([p for p in net.parameters() if p.requires_grad], lr=1e-3)
for step in range(5):
    start = torch.rand(16, 1) * 6
    series = torch.sin(start + torch.arange(15) / 3)
    optimizer.zero_grad()
    forecast = net(series[:, :10])
    loss = F.mse_loss(forecast, series[:, 10:])
    loss.backward()
    optimizer.step()
    print(step, loss.item())
