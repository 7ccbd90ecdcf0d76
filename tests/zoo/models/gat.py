"""Graph attention: scores of edges by two vectors, a softmax over what comes into a node, heads that are joined."""

import numpy as np
import paddle
import paddle.nn as nn
import paddle.nn.functional as F


def edge_softmax(scores, dst, num_nodes):
    """A softmax over the edges that end in the same node."""
    highest = paddle.full([num_nodes, scores.shape[1]], -1e30, dtype=scores.dtype)
    with paddle.no_grad():
        for node in range(num_nodes):
            highest[node] = paddle.max(scores[dst == node], axis=0)
    exponents = paddle.exp(scores - paddle.gather(highest, dst))
    total = paddle.scatter_nd_add(paddle.zeros_like(highest), dst.unsqueeze(-1), exponents)
    return exponents / paddle.gather(total, dst)


class GATConv(nn.Layer):
    def __init__(self, input_size, hidden_size, num_heads=2, concat=True, activation=None):
        super().__init__()
        self.hidden_size, self.num_heads, self.concat = hidden_size, num_heads, concat
        self.linear = nn.Linear(input_size, num_heads * hidden_size)
        self.weight_src = self.create_parameter(shape=[1, num_heads, hidden_size])
        self.weight_dst = self.create_parameter(shape=[1, num_heads, hidden_size])
        self.leaky_relu = nn.LeakyReLU(negative_slope=0.2)
        self.activation = activation

    def forward(self, src, dst, num_nodes, feature):
        feature = self.linear(feature).reshape([-1, self.num_heads, self.hidden_size])
        attn_src = paddle.sum(feature * self.weight_src, axis=-1)
        attn_dst = paddle.sum(feature * self.weight_dst, axis=-1)
        scores = self.leaky_relu(paddle.gather(attn_src, src) + paddle.gather(attn_dst, dst))
        alpha = edge_softmax(scores, dst, num_nodes)
        message = paddle.gather(feature, src) * alpha.unsqueeze(-1)
        out = paddle.zeros([num_nodes, self.num_heads, self.hidden_size], dtype=feature.dtype)
        out = paddle.index_add(out, dst, 0, message)
        out = out.reshape([-1, self.num_heads * self.hidden_size]) if self.concat else paddle.mean(out, axis=1)
        return self.activation(out) if self.activation is not None else out


class GAT(nn.Layer):
    def __init__(self, features, hidden, classes, heads):
        super().__init__()
        self.conv1 = GATConv(features, hidden, heads, activation=F.elu)
        self.conv2 = GATConv(hidden * heads, classes, num_heads=1, concat=False)

    def forward(self, src, dst, num_nodes, feature):
        return self.conv2(src, dst, num_nodes, self.conv1(src, dst, num_nodes, feature))


def network():
    return GAT(6, 4, 3, heads=2)


def loss(net):
    rng = np.random.RandomState(42)
    nodes = 8
    edges = np.array([(a, b) for a in range(nodes) for b in range(nodes) if a == b or rng.rand() < 0.25])
    src, dst = paddle.to_tensor(edges[:, 0]), paddle.to_tensor(edges[:, 1])
    feature = paddle.to_tensor(rng.randn(nodes, 6).astype(paddle.get_default_dtype()))
    labels = paddle.to_tensor(rng.randint(0, 3, size=nodes))
    return F.cross_entropy(net(src, dst, nodes, feature), labels)


def build():
    net = network()
    return loss(net), net
