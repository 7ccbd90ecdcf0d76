"""A variational autoencoder."""

import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)


class Autoencoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.encode = nn.Sequential(nn.Linear(784, 256), nn.ReLU(), nn.Linear(256, 32))
        self.decode = nn.Sequential(nn.Linear(16, 256), nn.ReLU(), nn.Linear(256, 784))

    def forward(self, x):
        mean, log_variance = self.encode(x).chunk(2, -1)
        z = mean + torch.randn_like(mean) * (0.5 * log_variance).exp()
        return self.decode(z), mean, log_variance


model = Autoencoder()
optimizer = torch.optim.Adam(model.parameters())
data = torch.rand(8192, 784)
total = 0.0
for i in range(0, 8192, 128):
    x = data[i : i + 128]
    logits, mean, log_variance = model(x)
    divergence = -0.5 * (1 + log_variance - mean.square() - log_variance.exp()).sum() / len(x)
    loss = F.binary_cross_entropy_with_logits(logits, x, reduction="sum") / len(x) + divergence
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    total += loss.item()
print(total / 64)
