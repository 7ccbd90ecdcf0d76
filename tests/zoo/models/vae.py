"""VAE: an encoder says mean and variance, a sample of them is decoded; what is lost is the evidence's lower bound."""

import numpy as np
import paddle
import paddle.nn as nn
import paddle.nn.functional as F


class Encoder(nn.Layer):
    def __init__(self, latent_dims):
        super().__init__()
        self.conv = nn.Sequential(
            nn.Conv2D(1, 4, 3, stride=2, padding=1), nn.ELU(), nn.Conv2D(4, 6, 3, stride=2, padding=1)
        )
        self.fc = nn.Linear(6 * 2 * 2, 12)
        self.mu = nn.Linear(12, latent_dims)
        self.log_var = nn.Linear(12, latent_dims)

    def forward(self, x):
        x = F.elu(self.conv(x)).flatten(1)
        x = paddle.tanh(self.fc(x))
        return self.mu(x), self.log_var(x)


class Decoder(nn.Layer):
    def __init__(self, latent_dims):
        super().__init__()
        self.fc = nn.Linear(latent_dims, 6 * 2 * 2)
        self.deconv1 = nn.Conv2DTranspose(6, 4, 4, stride=2, padding=1)
        self.deconv2 = nn.Conv2DTranspose(4, 1, 4, stride=2, padding=1)

    def forward(self, z):
        x = F.elu(self.fc(z)).reshape([-1, 6, 2, 2])
        return F.sigmoid(self.deconv2(F.elu(self.deconv1(x))))


class VariationalAutoencoder(nn.Layer):
    def __init__(self, latent_dims=4):
        super().__init__()
        self.encoder = Encoder(latent_dims)
        self.decoder = Decoder(latent_dims)

    def reparameterize(self, mu, log_var, eps):
        return mu + eps * paddle.exp(log_var / 2)

    def forward(self, x, eps):
        mu, log_var = self.encoder(x)
        self.kl = -0.5 * paddle.sum(1 + log_var - mu.pow(2) - log_var.exp(), axis=1)
        return self.decoder(self.reparameterize(mu, log_var, eps))


def network():
    return VariationalAutoencoder()


def loss(net):
    rng = np.random.default_rng(26)
    dtype = paddle.get_default_dtype()
    x = paddle.to_tensor(rng.uniform(0, 1, [3, 1, 8, 8]).astype(dtype))
    eps = paddle.to_tensor(rng.standard_normal([3, 4]).astype(dtype))
    x_hat = net(x, eps)
    reconstruction = F.binary_cross_entropy(x_hat, x, reduction="none").sum([1, 2, 3])
    return (reconstruction + net.kl).mean()


def build():
    net = network()
    return loss(net), net
