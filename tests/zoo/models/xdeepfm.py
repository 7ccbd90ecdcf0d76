"""xDeepFM: the compressed interaction network crosses fields by outer products and a convolution of width one."""

import math

import numpy as np
import paddle
import paddle.nn as nn
import paddle.nn.functional as F


class Linear(nn.Layer):
    def __init__(self, rows, fields):
        super().__init__()
        self.embedding = nn.Embedding(
            rows, 1, weight_attr=paddle.ParamAttr(initializer=nn.initializer.Normal(0.0, 0.1))
        )

    def forward(self, feat_index, feat_value):
        first_weights = self.embedding(feat_index) * feat_value
        return paddle.sum(first_weights, 1)


class CIN(nn.Layer):
    def __init__(self, fields, dim, layer_sizes):
        super().__init__()
        self.fields, self.dim = fields, dim
        self.layer_sizes = layer_sizes
        self.cnn_layers = []
        last_s = fields
        for i in range(len(layer_sizes)):
            _conv = nn.Conv2D(
                in_channels=last_s * fields,
                out_channels=layer_sizes[i],
                kernel_size=(1, 1),
                weight_attr=paddle.ParamAttr(
                    regularizer=paddle.regularizer.L2Decay(coeff=1e-4),
                    initializer=nn.initializer.Normal(std=1.0 / math.sqrt(last_s * fields)),
                ),
                bias_attr=False,
            )
            self.add_sublayer(f"cin_{i}", _conv)
            self.cnn_layers.append(_conv)
            last_s = layer_sizes[i]
        self.cin_linear = nn.Linear(sum(layer_sizes), 1)

    def forward(self, feat_embeddings):
        Xs = [feat_embeddings]
        last_s = self.fields
        for s, _conv in zip(self.layer_sizes, self.cnn_layers, strict=False):
            # The dimension of embeddings comes first: each of them is crossed for itself.
            X_0 = paddle.reshape(paddle.transpose(Xs[0], [0, 2, 1]), [-1, self.dim, self.fields, 1])
            X_k = paddle.reshape(paddle.transpose(Xs[-1], [0, 2, 1]), [-1, self.dim, 1, last_s])
            Z_k_1 = paddle.matmul(X_0, X_k)
            Z_k_1 = paddle.reshape(Z_k_1, [-1, self.dim, last_s * self.fields])
            Z_k_1 = paddle.transpose(Z_k_1, [0, 2, 1])
            Z_k_1 = paddle.reshape(Z_k_1, [-1, last_s * self.fields, 1, self.dim])
            X_k_1 = _conv(Z_k_1)
            Xs.append(paddle.reshape(X_k_1, [-1, s, self.dim]))
            last_s = s
        y_cin = paddle.concat(Xs[1:], 1)
        return self.cin_linear(paddle.sum(y_cin, -1))


class DNN(nn.Layer):
    def __init__(self, width, sizes):
        super().__init__()
        self.layers = nn.LayerList()
        for a, b in zip([width, *sizes], [*sizes, 1], strict=False):
            self.layers.append(nn.Linear(a, b))

    def forward(self, x):
        x = paddle.flatten(x, start_axis=1)
        for layer in self.layers[:-1]:
            x = F.relu(layer(x))
        return self.layers[-1](x)


class xDeepFMLayer(nn.Layer):
    def __init__(self, rows, dim, fields, cin_sizes, dnn_sizes):
        super().__init__()
        self.embedding = nn.Embedding(rows, dim)
        self.linear = Linear(rows, fields)
        self.cin = CIN(fields, dim, cin_sizes)
        self.dnn = DNN(fields * dim, dnn_sizes)

    def forward(self, feat_index, feat_value):
        feat_value = paddle.unsqueeze(feat_value, -1)
        feat_embeddings = self.embedding(feat_index) * feat_value
        y = self.linear(feat_index, feat_value) + self.cin(feat_embeddings) + self.dnn(feat_embeddings)
        return F.sigmoid(y)


def network():
    return xDeepFMLayer(rows=40, dim=4, fields=5, cin_sizes=[6, 4], dnn_sizes=[10, 6])


def loss(net):
    rng = np.random.RandomState(13)
    index = paddle.to_tensor(rng.randint(0, 40, size=(4, 5)).astype("int64"))
    value = paddle.to_tensor(rng.rand(4, 5).astype(paddle.get_default_dtype()))
    label = paddle.to_tensor(np.array([[0], [1], [1], [0]]).astype(paddle.get_default_dtype()))
    return F.binary_cross_entropy(net(index, value), label)


def build():
    net = network()
    return loss(net), net
