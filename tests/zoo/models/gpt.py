"""GPT: pre-norm decoder blocks with one joint projection of query, key and value and a causal mask in a buffer."""

from dataclasses import dataclass

import numpy as np
import paddle
import paddle.nn as nn
import paddle.nn.functional as F


@dataclass
class GPTConfig:
    block_size: int = 8
    vocab_size: int = 20
    n_layer: int = 2
    n_head: int = 2
    n_embd: int = 16
    dropout: float = 0.0


class CausalSelfAttention(nn.Layer):
    def __init__(self, config):
        super().__init__()
        assert config.n_embd % config.n_head == 0
        self.c_attn = nn.Linear(config.n_embd, 3 * config.n_embd)
        self.c_proj = nn.Linear(config.n_embd, config.n_embd)
        self.attn_dropout = nn.Dropout(config.dropout)
        self.resid_dropout = nn.Dropout(config.dropout)
        self.n_head = config.n_head
        self.n_embd = config.n_embd
        self.register_buffer(
            "bias",
            paddle.tril(paddle.ones([config.block_size, config.block_size])).reshape(
                [1, 1, config.block_size, config.block_size]
            ),
        )

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = self.c_attn(x).split(3, axis=2)
        k = k.reshape([B, T, self.n_head, C // self.n_head]).transpose([0, 2, 1, 3])
        q = q.reshape([B, T, self.n_head, C // self.n_head]).transpose([0, 2, 1, 3])
        v = v.reshape([B, T, self.n_head, C // self.n_head]).transpose([0, 2, 1, 3])
        att = (q @ k.transpose([0, 1, 3, 2])) * (1.0 / k.shape[-1] ** 0.5)
        att = paddle.where(self.bias[:, :, :T, :T] == 0, paddle.to_tensor(float("-inf")), att)
        att = self.attn_dropout(F.softmax(att, axis=-1))
        y = (att @ v).transpose([0, 2, 1, 3]).reshape([B, T, C])
        return self.resid_dropout(self.c_proj(y))


class MLP(nn.Layer):
    def __init__(self, config):
        super().__init__()
        self.c_fc = nn.Linear(config.n_embd, 4 * config.n_embd)
        self.gelu = nn.GELU(approximate=True)
        self.c_proj = nn.Linear(4 * config.n_embd, config.n_embd)
        self.dropout = nn.Dropout(config.dropout)

    def forward(self, x):
        return self.dropout(self.c_proj(self.gelu(self.c_fc(x))))


class Block(nn.Layer):
    def __init__(self, config):
        super().__init__()
        self.ln_1 = nn.LayerNorm(config.n_embd)
        self.attn = CausalSelfAttention(config)
        self.ln_2 = nn.LayerNorm(config.n_embd)
        self.mlp = MLP(config)

    def forward(self, x):
        x = x + self.attn(self.ln_1(x))
        return x + self.mlp(self.ln_2(x))


class GPT(nn.Layer):
    def __init__(self, config):
        super().__init__()
        self.config = config
        self.transformer = nn.LayerDict(
            {
                "wte": nn.Embedding(config.vocab_size, config.n_embd),
                "wpe": nn.Embedding(config.block_size, config.n_embd),
                "drop": nn.Dropout(config.dropout),
                "h": nn.LayerList([Block(config) for _ in range(config.n_layer)]),
                "ln_f": nn.LayerNorm(config.n_embd),
            }
        )
        self.lm_head = nn.Linear(config.n_embd, config.vocab_size, bias_attr=False)
        self.apply(self._init_weights)
        for pn, p in self.named_parameters():
            if pn.endswith("c_proj.weight"):
                nn.initializer.Normal(mean=0.0, std=0.02 / (2 * config.n_layer) ** 0.5)(p)

    def _init_weights(self, module):
        if isinstance(module, nn.Linear):
            nn.initializer.Normal(mean=0.0, std=0.02)(module.weight)
            if module.bias is not None:
                nn.initializer.Constant(0.0)(module.bias)
        elif isinstance(module, nn.Embedding):
            nn.initializer.Normal(mean=0.0, std=0.02)(module.weight)

    def forward(self, idx, targets=None):
        _b, t = idx.shape
        pos = paddle.arange(0, t, dtype="int64").unsqueeze(0)
        x = self.transformer["drop"](self.transformer["wte"](idx) + self.transformer["wpe"](pos))
        for block in self.transformer["h"]:
            x = block(x)
        x = self.transformer["ln_f"](x)
        if targets is None:
            return self.lm_head(x[:, [-1], :]), None
        logits = self.lm_head(x)
        loss = F.cross_entropy(logits.reshape([-1, logits.shape[-1]]), targets.reshape([-1]), ignore_index=-1)
        return logits, loss

    def configure_optimizers(self, weight_decay, learning_rate):
        param_dict = {pn: p for pn, p in self.named_parameters() if not p.stop_gradient}
        groups = [
            {"params": [p for p in param_dict.values() if p.dim() >= 2], "weight_decay": weight_decay},
            {"params": [p for p in param_dict.values() if p.dim() < 2], "weight_decay": 0.0},
        ]
        return paddle.optimizer.AdamW(
            learning_rate=learning_rate,
            beta2=0.95,
            parameters=groups,
            grad_clip=nn.ClipGradByGlobalNorm(1.0),
        )


def network():
    return GPT(GPTConfig())


def loss(net):
    data = np.random.RandomState(1337).randint(0, 20, size=200).astype("int64")
    ix = np.array([3, 50, 101])
    x = paddle.to_tensor(np.stack([data[i : i + 8] for i in ix]))
    y = paddle.to_tensor(np.stack([data[i + 1 : i + 9] for i in ix]))
    return net(x, y)[1]


def train(steps):
    paddle.seed(1337)
    model = network()
    optimizer = model.configure_optimizers(weight_decay=0.1, learning_rate=1e-3)
    model.train()
    for _ in range(steps):
        cost = loss(model)
        cost.backward()
        optimizer.step()
        optimizer.clear_grad(set_to_zero=False)


if __name__ == "__main__":
    train(steps=2)
