"""A selective state space: the input says how far its state moves; the scan is a loop over time."""

import math

import numpy as np
import paddle
import paddle.nn as nn
import paddle.nn.functional as F


class RMSNorm(nn.Layer):
    def __init__(self, d_model, eps=1e-5):
        super().__init__()
        self.eps = eps
        self.weight = self.create_parameter([d_model], default_initializer=nn.initializer.Constant(1.0))

    def forward(self, x):
        return x * paddle.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.eps) * self.weight


class MambaBlock(nn.Layer):
    def __init__(self, d_model, d_state=4, d_conv=3, expand=2):
        super().__init__()
        self.d_inner = expand * d_model
        self.d_state = d_state
        self.dt_rank = math.ceil(d_model / 4)
        self.in_proj = nn.Linear(d_model, self.d_inner * 2, bias_attr=False)
        self.conv1d = nn.Conv1D(self.d_inner, self.d_inner, kernel_size=d_conv, groups=self.d_inner, padding=d_conv - 1)
        self.x_proj = nn.Linear(self.d_inner, self.dt_rank + d_state * 2, bias_attr=False)
        self.dt_proj = nn.Linear(self.dt_rank, self.d_inner)
        A = paddle.arange(1, d_state + 1, dtype=paddle.get_default_dtype()).unsqueeze(0).tile([self.d_inner, 1])
        self.A_log = self.create_parameter(A.shape, default_initializer=nn.initializer.Assign(paddle.log(A)))
        self.D = self.create_parameter([self.d_inner], default_initializer=nn.initializer.Constant(1.0))
        self.out_proj = nn.Linear(self.d_inner, d_model, bias_attr=False)

    def forward(self, x):
        length = x.shape[1]
        x_and_res = self.in_proj(x)
        x, res = paddle.split(x_and_res, [self.d_inner, self.d_inner], axis=-1)
        x = self.conv1d(x.transpose([0, 2, 1]))[:, :, :length].transpose([0, 2, 1])
        x = F.silu(x)
        y = self.ssm(x)
        return self.out_proj(y * F.silu(res))

    def ssm(self, x):
        A = -paddle.exp(self.A_log)
        delta, B, C = self.x_proj(x).split([self.dt_rank, self.d_state, self.d_state], axis=-1)
        delta = F.softplus(self.dt_proj(delta))
        return self.selective_scan(x, delta, A, B, C, self.D)

    def selective_scan(self, u, delta, A, B, C, D):
        b, length, d_in = u.shape
        deltaA = paddle.exp(paddle.einsum("bld,dn->bldn", delta, A))
        deltaB_u = paddle.einsum("bld,bln,bld->bldn", delta, B, u)
        x = paddle.zeros([b, d_in, A.shape[1]])
        ys = []
        for i in range(length):
            x = deltaA[:, i] * x + deltaB_u[:, i]
            ys.append(paddle.einsum("bdn,bn->bd", x, C[:, i, :]))
        return paddle.stack(ys, axis=1) + u * D


class ResidualBlock(nn.Layer):
    def __init__(self, d_model):
        super().__init__()
        self.mixer = MambaBlock(d_model)
        self.norm = RMSNorm(d_model)

    def forward(self, x):
        return self.mixer(self.norm(x)) + x


class Mamba(nn.Layer):
    def __init__(self, vocab_size, d_model, n_layer):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, d_model)
        self.layers = nn.LayerList([ResidualBlock(d_model) for _ in range(n_layer)])
        self.norm_f = RMSNorm(d_model)

    def forward(self, input_ids):
        x = self.embedding(input_ids)
        for layer in self.layers:
            x = layer(x)
        return self.norm_f(x) @ self.embedding.weight.T


def network():
    return Mamba(vocab_size=16, d_model=8, n_layer=2)


def loss(net):
    tokens = np.random.RandomState(9).randint(0, 16, size=(2, 9)).astype("int64")
    logits = net(paddle.to_tensor(tokens[:, :-1]))
    return F.cross_entropy(logits.reshape([-1, 16]), paddle.to_tensor(tokens[:, 1:].reshape(-1)))


if __name__ == "__main__":
    model = network()
    cost = loss(model)
    cost.backward()
