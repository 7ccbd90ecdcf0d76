"""Attention over the edges of graphs by segments, and each graph of the batch pooled: a classifier of molecules."""

import numpy as np
import paddle
import paddle.nn as nn
import paddle.nn.functional as F
from paddle import geometric


def edge_softmax(scores, dst):
    """Softmax over the edges that arrive at each node; the largest is taken away, as a constant."""
    scores = scores - geometric.segment_max(scores.detach(), dst)[dst]
    powers = scores.exp()
    return powers / geometric.segment_sum(powers, dst)[dst]


class AttentionConv(nn.Layer):
    def __init__(self, width, edge_width, heads):
        super().__init__()
        self.heads = heads
        self.query = nn.Linear(width, width)
        self.key = nn.Linear(width, width)
        self.value = nn.Linear(width, width)
        self.edge = nn.Linear(edge_width, width)

    def forward(self, x, src, dst, attr):
        shape = [-1, self.heads, x.shape[-1] // self.heads]
        key = self.key(x)[src] + self.edge(attr)
        scores = (self.query(x)[dst] * key).reshape(shape).sum(axis=-1) / shape[-1] ** 0.5
        weights = edge_softmax(scores, dst).unsqueeze(-1)
        value = self.value(x).reshape(shape)
        out = geometric.send_ue_recv(value, weights.expand([-1, -1, shape[-1]]), src, dst, "mul", "sum")
        return out.reshape(x.shape)


class Classifier(nn.Layer):
    def __init__(self, features, edge_features, width, depth):
        super().__init__()
        self.embed = nn.Linear(features, width)
        self.convs = nn.LayerList([AttentionConv(width, edge_features, heads=2) for _ in range(depth)])
        self.norms = nn.LayerList([nn.LayerNorm(width) for _ in range(depth)])
        self.link = nn.Linear(width, width)
        self.head = nn.Linear(3 * width, 2)

    def forward(self, x, src, dst, attr, graph):
        x = self.embed(x)
        for conv, norm in zip(self.convs, self.norms, strict=True):
            x = x + conv(norm(x), src, dst, attr)
        links = geometric.send_uv(self.link(x), x, src, dst, "mul")
        received = geometric.send_ue_recv(x, links, src, dst, "add", "max")
        pooled = [geometric.segment_mean(x, graph), geometric.segment_max(received, graph)]
        return self.head(paddle.concat([*pooled, geometric.segment_sum(x, graph)], axis=-1))


def network():
    return Classifier(features=4, edge_features=3, width=8, depth=2)


def loss(net):
    rng = np.random.RandomState(8)
    dtype = paddle.get_default_dtype()
    sizes = [5, 4, 6]
    graph = np.repeat(np.arange(3), sizes)
    starts = np.concatenate([[0], np.cumsum(sizes)])
    dst = np.repeat(np.arange(15), 3)
    src = np.array([starts[graph[node]] + rng.randint(sizes[graph[node]]) for node in dst])
    x = paddle.to_tensor(rng.standard_normal((15, 4)).astype(dtype))
    attr = paddle.to_tensor(rng.standard_normal((45, 3)).astype(dtype))
    logits = net(x, paddle.to_tensor(src), paddle.to_tensor(dst), attr, paddle.to_tensor(graph))
    return F.cross_entropy(logits, paddle.to_tensor(np.array([[0], [1], [1]])))


def build():
    paddle.seed(4)
    net = network()
    return loss(net), net
