"""An encoder whose blocks are computed again on the way back."""

import numpy as np
import paddle
import paddle.nn as nn
import paddle.nn.functional as F
from paddle.distributed.fleet.utils import recompute


class Block(nn.Layer):
    def __init__(self, dim, heads):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.attn = nn.MultiHeadAttention(dim, heads)
        self.fc1, self.fc2 = nn.Linear(dim, 2 * dim), nn.Linear(2 * dim, dim)

    def forward(self, x, mask=None):
        h = self.norm1(x)
        x = x + self.attn(h, h, h, attn_mask=mask)
        return x + self.fc2(F.gelu(self.fc1(self.norm2(x))))


class Encoder(nn.Layer):
    def __init__(self, vocab=14, dim=8, depth=2):
        super().__init__()
        self.embedding = nn.Embedding(vocab, dim)
        self.blocks = nn.LayerList([Block(dim, 2) for _ in range(depth)])
        self.head = nn.Linear(dim, vocab)
        self.enable_recompute = True

    def forward(self, ids):
        mask = paddle.triu(paddle.full([ids.shape[1]] * 2, -1e9), diagonal=1)
        x = self.embedding(ids)
        for block in self.blocks:
            x = recompute(block, x, mask) if self.enable_recompute and self.training else block(x, mask)
        return self.head(x)


def network():
    return Encoder()


def loss(net):
    ids = np.random.RandomState(1).randint(0, 14, size=(2, 6))
    logits = net(paddle.to_tensor(ids[:, :-1]))
    return F.cross_entropy(logits, paddle.to_tensor(ids[:, 1:, None]))


if __name__ == "__main__":
    model = network()
    optimizer = paddle.optimizer.AdamW(parameters=model.parameters())
    cost = loss(model)
    cost.backward()
    optimizer.step()
    optimizer.clear_grad()
