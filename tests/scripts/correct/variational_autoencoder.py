# about     A VAE with the reparameterisation trick; noise needs no gradient.
import paddle
import paddle.nn.functional as F
from paddle import nn


class VAE(nn.Layer):
    def __init__(self, size=12, latent=3):
        super().__init__()
        self.encode = nn.Linear(size, 16)
        self.mu, self.logvar = nn.Linear(16, latent), nn.Linear(16, latent)
        self.decode = nn.Sequential(nn.Linear(latent, 16), nn.ReLU(), nn.Linear(16, size))

    def forward(self, x):
        h = F.relu(self.encode(x))
        mu, logvar = self.mu(h), self.logvar(h)
        z = mu + paddle.randn(mu.shape) * paddle.exp(0.5 * logvar)
        return self.decode(z), mu, logvar


def loss_of(x, out, mu, logvar):
    restored = F.binary_cross_entropy_with_logits(out, x, reduction="sum") / x.shape[0]
    divergence = -0.5 * (1 + logvar - mu**2 - paddle.exp(logvar)).sum(axis=1).mean()
    return restored + divergence


if __name__ == "__main__":
    paddle.seed(8)
    vae = VAE()
    opt = paddle.optimizer.Adam(1e-3, parameters=vae.parameters())
    for _ in range(3):
        batch = paddle.rand([16, 12])
        loss = loss_of(batch, *vae(batch))
        loss.backward()
        opt.step()
        opt.clear_grad()
        print(float(loss))
