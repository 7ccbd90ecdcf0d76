"""Complex weights on Fourier modes, after the Fourier neural operator."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class SpectralConv1d(nn.Module):
    def __init__(self, channels, modes):
        super().__init__()
        self.modes = modes
        scale = 1 / (channels * channels)
        self.weights1 = nn.Parameter(scale * torch.rand(channels, channels, modes, dtype=torch.cfloat))

    def forward(self, x):
        x_ft = torch.fft.rfft(x)
        out_ft = torch.zeros(x.shape[0], x.shape[1], x.size(-1) // 2 + 1, dtype=torch.cfloat)
        out_ft[:, :, : self.modes] = torch.einsum("bix,iox->box", x_ft[:, :, : self.modes], self.weights1)
        return torch.fft.irfft(out_ft, n=x.size(-1))


class FNO1d(nn.Module):
    def __init__(self, width=6, modes=4):
        super().__init__()
        self.p = nn.Linear(2, width)
        self.convs = nn.ModuleList([SpectralConv1d(width, modes) for _ in range(2)])
        self.ws = nn.ModuleList([nn.Conv1d(width, width, 1) for _ in range(2)])
        self.q = nn.Linear(width, 1)

    def forward(self, x):
        grid = torch.linspace(0, 1, x.shape[1]).reshape(1, -1, 1).repeat(x.shape[0], 1, 1)
        x = self.p(torch.cat((x, grid), dim=-1)).permute(0, 2, 1)
        for conv, w in zip(self.convs, self.ws):
            x = F.gelu(conv(x) + w(x))
        return self.q(x.permute(0, 2, 1))


torch.manual_seed(0)
model = FNO1d()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, weight_decay=1e-4)
for step in range(4):
    x = torch.randn(5, 16, 1)
    y = torch.cumsum(x, 1) / 16
    optimizer.zero_grad()
    out = model(x)
    loss = F.mse_loss(out.view(5, -1), y.view(5, -1))
    loss.backward()
    optimizer.step()
    print(step, loss.item())
