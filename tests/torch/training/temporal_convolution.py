"""Sequences under dilated causal convolutions, after locuslab's TCN."""
import torch
import torch.nn as nn
from torch.nn.utils.parametrizations import weight_norm


class Chomp1d(nn.Module):
    def __init__(self, chomp_size):
        super().__init__()
        self.chomp_size = chomp_size

    def forward(self, x):
        return x[:, :, : -self.chomp_size].contiguous()


class TemporalBlock(nn.Module):
    def __init__(self, n_inputs, n_outputs, kernel_size, dilation):
        super().__init__()
        padding = (kernel_size - 1) * dilation
        conv1 = weight_norm(nn.Conv1d(n_inputs, n_outputs, kernel_size, padding=padding, dilation=dilation))
        conv2 = weight_norm(nn.Conv1d(n_outputs, n_outputs, kernel_size, padding=padding, dilation=dilation))
        self.net = nn.Sequential(
            conv1, Chomp1d(padding), nn.ReLU(), nn.Dropout(0.2), conv2, Chomp1d(padding), nn.ReLU(), nn.Dropout(0.2)
        )
        self.downsample = nn.Conv1d(n_inputs, n_outputs, 1) if n_inputs != n_outputs else None
        self.relu = nn.ReLU()

    def forward(self, x):
        out = self.net(x)
        res = x if self.downsample is None else self.downsample(x)
        return self.relu(out + res)


class TCN(nn.Module):
    def __init__(self):
        super().__init__()
        self.tcn = nn.Sequential(TemporalBlock(2, 8, 3, 1), TemporalBlock(8, 8, 3, 2))
        self.linear = nn.Linear(8, 1)

    def forward(self, x):
        return self.linear(self.tcn(x)[:, :, -1])


torch.manual_seed(1111)
model = TCN()
optimizer = torch.optim.Adam(model.parameters(), lr=4e-3)
for step in range(4):
    x = torch.rand(8, 2, 20)
    x[:, 1] = (x[:, 1] > 0.8).float()
    y = (x[:, 0] * x[:, 1]).sum(1, keepdim=True)
    optimizer.zero_grad()
    output = model(x)
    loss = nn.functional.mse_loss(output, y)
    loss.backward()
    optimizer.step()
    print(step, loss.item())
