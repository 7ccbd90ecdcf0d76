"""A graph convolution network gathers along edges and sums where they end, normed by degrees."""

import numpy as np
import paddle
import paddle.nn as nn
import paddle.nn.functional as F


class Graph:
    def __init__(self, num_nodes, edges, node_feat):
        self.num_nodes = num_nodes
        self.src, self.dst = paddle.to_tensor(edges[:, 0]), paddle.to_tensor(edges[:, 1])
        self.node_feat = node_feat

    def indegree(self):
        ones = paddle.ones_like(self.dst)
        return paddle.scatter(paddle.zeros([self.num_nodes], dtype="int64"), self.dst, ones, overwrite=False)

    def send_recv(self, feature):
        message = paddle.gather(feature, self.src)
        out = paddle.zeros([self.num_nodes, feature.shape[-1]], dtype=feature.dtype)
        return paddle.scatter(out, self.dst, message, overwrite=False)


class GCNConv(nn.Layer):
    def __init__(self, input_size, output_size, activation=None, norm=True):
        super().__init__()
        self.input_size, self.output_size = input_size, output_size
        self.linear = nn.Linear(input_size, output_size, bias_attr=False)
        self.bias = self.create_parameter(shape=[output_size], is_bias=True)
        self.norm = norm
        self.activation = getattr(F, activation) if isinstance(activation, str) else activation

    def forward(self, graph, feature):
        norm = None
        if self.norm:
            degree = graph.indegree().astype(paddle.get_default_dtype())
            norm = paddle.clip(degree, min=1.0).pow(-0.5).reshape([-1, 1])
        if self.input_size > self.output_size:
            feature = self.linear(feature)
        if norm is not None:
            feature = feature * norm
        output = graph.send_recv(feature)
        if self.input_size <= self.output_size:
            output = self.linear(output)
        if norm is not None:
            output = output * norm
        output = output + self.bias
        return output if self.activation is None else self.activation(output)


class GCN(nn.Layer):
    def __init__(self, input_size, num_class, hidden_size, dropout=0.0):
        super().__init__()
        self.gcns = nn.LayerList([GCNConv(input_size, hidden_size, activation="relu"), GCNConv(hidden_size, num_class)])
        self.dropout = nn.Dropout(dropout)

    def forward(self, graph, feature):
        for gcn in self.gcns:
            feature = gcn(graph, self.dropout(feature))
        return feature


def karate_like(nodes=12):
    rng = np.random.RandomState(6)
    edges = np.array([(a, b) for a in range(nodes) for b in range(nodes) if a == b or rng.rand() < 0.2])
    features = rng.randn(nodes, 10).astype(paddle.get_default_dtype())
    return Graph(nodes, edges, paddle.to_tensor(features)), rng.randint(0, 3, size=nodes)


def network():
    return GCN(10, 3, hidden_size=8)


def loss(net):
    graph, labels = karate_like()
    train_index = paddle.to_tensor(np.array([0, 2, 3, 7, 9]))
    pred = net(graph, graph.node_feat)
    pred = paddle.gather(pred, train_index)
    label = paddle.gather(paddle.to_tensor(labels), train_index)
    return nn.CrossEntropyLoss()(pred, label)


if __name__ == "__main__":
    model = network()
    optim = paddle.optimizer.Adam(learning_rate=0.01, parameters=model.parameters(), weight_decay=5e-4)
    cost = loss(model)
    cost.backward()
    optim.step()
    optim.clear_grad()
