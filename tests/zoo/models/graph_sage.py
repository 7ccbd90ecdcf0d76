"""GraphSAGE: two hops of neighbours sampled and numbered anew, the mean of each node's beside its own features."""

import numpy as np
import paddle
import paddle.nn as nn
import paddle.nn.functional as F
from paddle import geometric


class SAGEConv(nn.Layer):
    def __init__(self, in_feats, out_feats):
        super().__init__()
        self.fc_self = nn.Linear(in_feats, out_feats)
        self.fc_neigh = nn.Linear(in_feats, out_feats, bias_attr=False)

    def forward(self, x, src, dst, num_nodes):
        mean = geometric.send_u_recv(x, src, dst, "mean", out_size=num_nodes)
        return self.fc_self(x[:num_nodes]) + self.fc_neigh(mean)


class GraphSAGE(nn.Layer):
    def __init__(self, in_feats, hidden, classes):
        super().__init__()
        self.convs = nn.LayerList([SAGEConv(in_feats, hidden), SAGEConv(hidden, classes)])

    def forward(self, features, row, colptr, nodes):
        blocks = []
        for _ in self.convs:
            near, count = geometric.sample_neighbors(row, colptr, nodes, sample_size=8)
            src, dst, index = geometric.reindex_graph(nodes, near, count)
            blocks.append((src, dst, nodes.shape[0]))
            nodes = index
        x = features[nodes]
        for conv, (src, dst, size) in zip(self.convs, reversed(blocks), strict=True):
            x = conv(x, src, dst, size)
            if conv is not self.convs[-1]:
                x = F.normalize(F.relu(x), axis=-1)
        return x


def network():
    return GraphSAGE(in_feats=5, hidden=8, classes=3)


def loss(net):
    rng = np.random.RandomState(6)
    features = paddle.to_tensor(rng.standard_normal((12, 5)).astype(paddle.get_default_dtype()))
    degrees = rng.randint(1, 5, 12)
    row = paddle.to_tensor(np.concatenate([rng.choice(12, n, replace=False) for n in degrees]))
    colptr = paddle.to_tensor(np.concatenate([[0], np.cumsum(degrees)]))
    nodes = paddle.to_tensor(np.array([3, 0, 7, 10]))
    return F.cross_entropy(net(features, row, colptr, nodes), paddle.to_tensor(np.array([[0], [2], [1], [1]])))


def build():
    paddle.seed(4)
    net = network()
    return loss(net), net
