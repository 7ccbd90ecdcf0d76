"""A GPT of twelve blocks as people write it: embeddings, causal attention, layers with GELU, and a head that shares the
words' embedding.

Its structure is that of GPT-2 small; only the numbers are small, so that it runs in a moment. See it::

    gradtool graph samples/models/gpt.py -o gpt.html
    gradtool graph samples/models/gpt.py -o gpt.svg --max-nodes 120
    gradtool why tokens.weight samples/models/gpt.py --contributions
"""

from dataclasses import dataclass

import paddle
import paddle.nn as nn
import paddle.nn.functional as F


@dataclass
class Config:
    words: int = 64
    length: int = 16
    layers: int = 12
    heads: int = 2
    width: int = 16
    dropout: float = 0.1


class Attention(nn.Layer):
    """Every place looks at itself and at what came before."""

    def __init__(self, config):
        super().__init__()
        self.heads = config.heads
        self.qkv = nn.Linear(config.width, 3 * config.width)
        self.proj = nn.Linear(config.width, config.width)
        self.dropout = nn.Dropout(config.dropout)
        self.register_buffer("later", paddle.triu(paddle.full([config.length, config.length], -1e9), 1))

    def forward(self, x):
        batch, length, width = x.shape
        size = width // self.heads
        q, k, v = paddle.split(self.qkv(x), 3, axis=-1)
        q, k, v = (t.reshape([batch, length, self.heads, size]).transpose([0, 2, 1, 3]) for t in (q, k, v))
        scores = paddle.matmul(q, k, transpose_y=True) * size**-0.5 + self.later[:length, :length]
        mixed = paddle.matmul(self.dropout(F.softmax(scores, axis=-1)), v)
        return self.proj(mixed.transpose([0, 2, 1, 3]).reshape([batch, length, width]))


class MLP(nn.Layer):
    def __init__(self, config):
        super().__init__()
        self.fc = nn.Linear(config.width, 4 * config.width)
        self.proj = nn.Linear(4 * config.width, config.width)
        self.dropout = nn.Dropout(config.dropout)

    def forward(self, x):
        return self.dropout(self.proj(F.gelu(self.fc(x))))


class Block(nn.Layer):
    def __init__(self, config):
        super().__init__()
        self.ln1 = nn.LayerNorm(config.width)
        self.attn = Attention(config)
        self.ln2 = nn.LayerNorm(config.width)
        self.mlp = MLP(config)

    def forward(self, x):
        x = x + self.attn(self.ln1(x))
        return x + self.mlp(self.ln2(x))


class GPT(nn.Layer):
    def __init__(self, config):
        super().__init__()
        self.tokens = nn.Embedding(config.words, config.width)
        self.places = nn.Embedding(config.length, config.width)
        self.blocks = nn.LayerList([Block(config) for _ in range(config.layers)])
        self.norm = nn.LayerNorm(config.width)

    def forward(self, ids):
        x = self.tokens(ids) + self.places(paddle.arange(ids.shape[1]))
        for block in self.blocks:
            x = block(x)
        return paddle.matmul(self.norm(x), self.tokens.weight, transpose_y=True)


def build():
    """The loss of one batch, and the model."""
    config = Config()
    model = GPT(config)
    shape = [2, config.length]
    if paddle.in_dynamic_mode():
        ids, following = paddle.randint(0, config.words, shape), paddle.randint(0, config.words, shape)
    else:
        ids, following = (paddle.static.data(name, shape, "int64") for name in ("ids", "following"))
    scores = model(ids)
    return F.cross_entropy(scores.reshape([-1, config.words]), following.reshape([-1])), model
