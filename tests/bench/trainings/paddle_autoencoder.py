"""A variational autoencoder."""

import paddle
from paddle import nn
from paddle.nn import functional as F

paddle.seed(0)


class Autoencoder(nn.Layer):
    def __init__(self):
        super().__init__()
        self.encode = nn.Sequential(nn.Linear(784, 256), nn.ReLU(), nn.Linear(256, 32))
        self.decode = nn.Sequential(nn.Linear(16, 256), nn.ReLU(), nn.Linear(256, 784))

    def forward(self, x):
        mean, log_variance = self.encode(x).chunk(2, -1)
        z = mean + paddle.randn(mean.shape) * (0.5 * log_variance).exp()
        return self.decode(z), mean, log_variance


model = Autoencoder()
optimizer = paddle.optimizer.Adam(parameters=model.parameters())
data = paddle.rand([8192, 784])
total = 0.0
for i in range(0, 8192, 128):
    x = data[i : i + 128]
    logits, mean, log_variance = model(x)
    divergence = -0.5 * (1 + log_variance - mean.square() - log_variance.exp()).sum() / len(x)
    loss = F.binary_cross_entropy_with_logits(logits, x, reduction="sum") / len(x) + divergence
    optimizer.clear_grad()
    loss.backward()
    optimizer.step()
    total += loss.item()
print(total / 64)
