"""A sparse mixture of experts: the best two of four for each token, gathered and scattered, with the balancing loss."""

import numpy as np
import paddle
import paddle.nn as nn
import paddle.nn.functional as F


class ExpertLayer(nn.Layer):
    def __init__(self, d_model, d_hidden):
        super().__init__()
        self.htoh4 = nn.Linear(d_model, d_hidden)
        self.h4toh = nn.Linear(d_hidden, d_model)

    def forward(self, x):
        return self.h4toh(F.gelu(self.htoh4(x)))


class TopKGate(nn.Layer):
    def __init__(self, d_model, num_experts, top_k):
        super().__init__()
        self.weight = self.create_parameter([d_model, num_experts])
        self.num_experts = num_experts
        self.top_k = top_k

    def forward(self, x):
        probs = F.softmax(paddle.matmul(x, self.weight), axis=-1)
        value, index = paddle.topk(probs, self.top_k, axis=-1)
        value = value / value.sum(axis=-1, keepdim=True)
        # The share of tokens has no gradient, the mean probability has: their product pushes towards balance.
        first = F.one_hot(index[:, 0], self.num_experts)
        aux_loss = self.num_experts * paddle.sum(first.mean(axis=0) * probs.mean(axis=0))
        return value, index, aux_loss


class MoELayer(nn.Layer):
    def __init__(self, d_model, d_hidden, num_experts, top_k):
        super().__init__()
        self.gate = TopKGate(d_model, num_experts, top_k)
        self.experts = nn.LayerList([ExpertLayer(d_model, d_hidden) for _ in range(num_experts)])
        self.l_aux = None

    def forward(self, hidden):
        orig_shape = hidden.shape
        x = hidden.reshape([-1, orig_shape[-1]])
        value, index, self.l_aux = self.gate(x)
        out = paddle.zeros_like(x)
        for number, expert in enumerate(self.experts):
            token, slot = paddle.nonzero(index == number, as_tuple=True)
            token, slot = token.flatten(), slot.flatten()
            if token.shape[0] == 0:
                continue
            weight = value.gather_nd(paddle.stack([token, slot], axis=-1)).unsqueeze(-1)
            out = paddle.scatter_nd_add(out, token.unsqueeze(-1), expert(paddle.gather(x, token)) * weight)
        return out.reshape(orig_shape)


class Block(nn.Layer):
    def __init__(self, d_model):
        super().__init__()
        self.norm1 = nn.LayerNorm(d_model)
        self.attn = nn.MultiHeadAttention(d_model, 2)
        self.norm2 = nn.LayerNorm(d_model)
        self.moe = MoELayer(d_model, d_model * 2, num_experts=4, top_k=2)

    def forward(self, x):
        causal = paddle.tril(paddle.ones([x.shape[1], x.shape[1]], "bool"))
        x = x + self.attn(self.norm1(x), attn_mask=causal)
        return x + self.moe(self.norm2(x))


class SwitchModel(nn.Layer):
    def __init__(self, vocab, d_model, depth):
        super().__init__()
        self.embed = nn.Embedding(vocab, d_model)
        self.blocks = nn.Sequential(*[Block(d_model) for _ in range(depth)])
        self.head = nn.Linear(d_model, vocab)

    def forward(self, ids):
        return self.head(self.blocks(self.embed(ids)))

    def aux_loss(self):
        return sum(block.moe.l_aux for block in self.blocks)


def network():
    return SwitchModel(vocab=12, d_model=8, depth=2)


def loss(net):
    ids = np.random.RandomState(4).randint(0, 12, size=(3, 6)).astype("int64")
    logits = net(paddle.to_tensor(ids))
    return F.cross_entropy(logits[:, :-1], paddle.to_tensor(ids[:, 1:, None])) + 0.01 * net.aux_loss()


def build():
    paddle.seed(4)
    net = network()
    return loss(net), net
