"""Recurrent layers, a convolution, batch norm, dropout and a Fourier transform, trained for two steps."""

# expect: nothing

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)


class Double(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, gradient):
        return gradient * 2


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.GRU(4, 6, batch_first=True)
        self.second = nn.LSTM(6, 6, batch_first=True, bidirectional=True)
        self.convolution = nn.Conv1d(12, 8, 3, padding=1, bias=False)
        self.norm = nn.BatchNorm1d(8)
        self.head = nn.Linear(8, 3)

    def forward(self, x):
        h, _ = self.first(x)
        h, _ = self.second(Double.apply(h))
        h = self.norm(self.convolution(h.transpose(1, 2)))
        h = F.dropout(F.elu(h), 0.2)
        return self.head(torch.fft.rfft(h, dim=-1).abs().mean(-1))


net = Net()
optimizer = torch.optim.Adam(net.parameters())
x, target = torch.randn(5, 8, 4), torch.randint(0, 3, (5,))
for _ in range(2):
    optimizer.zero_grad()
    loss = F.cross_entropy(net(x), target)
    loss.backward()
    optimizer.step()
