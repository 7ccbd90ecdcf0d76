"""Deep and Cross network: crosses of the input with itself beside a deep net; a regularizer in the loss."""

import math

import numpy as np
import paddle
import paddle.nn as nn
import paddle.nn.functional as F


class DeepCroLayer(nn.Layer):
    def __init__(self, sparse_feature_number, feature_dim, dense_dim, num_field, layer_sizes, cross_num, l2_reg_cross):
        super().__init__()
        self.l2_reg_cross = l2_reg_cross
        self.width = num_field * feature_dim + dense_dim
        self.embedding = nn.Embedding(
            sparse_feature_number,
            feature_dim,
            weight_attr=paddle.ParamAttr(
                name="SparseFeatFactors",
                initializer=nn.initializer.Uniform(),
                regularizer=paddle.regularizer.L2Decay(1e-5),
            ),
        )
        self.layer_w = self.create_parameter(
            [self.width], default_initializer=nn.initializer.TruncatedNormal(std=1.0 / math.sqrt(self.width))
        )
        self.layer_bias = self.create_parameter([self.width], is_bias=True)
        self.cross_num = cross_num
        sizes = [self.width, *layer_sizes]
        self.dnn = nn.Sequential(
            *[
                layer
                for i in range(len(layer_sizes))
                for layer in (nn.Linear(sizes[i], sizes[i + 1]), nn.BatchNorm1D(sizes[i + 1]), nn.ReLU())
            ]
        )
        self.fc = nn.Linear(layer_sizes[-1] + self.width, 1)

    def _cross_layer(self, input_0, input_x):
        input_w = paddle.multiply(input_x, self.layer_w)
        input_w1 = paddle.sum(input_w, axis=1, keepdim=True)
        input_ww = paddle.multiply(input_0, input_w1)
        input_layer_0 = paddle.add(input_ww, self.layer_bias)
        return paddle.add(input_layer_0, input_x), input_w

    def _cross_net(self, x0):
        x, l2_reg_cross_list = x0, []
        for _ in range(self.cross_num):
            x, w = self._cross_layer(x0, x)
            l2_reg_cross_list.append(paddle.sum(paddle.square(w)))
        return x, self.l2_reg_cross * paddle.add_n(l2_reg_cross_list)

    def forward(self, sparse_inputs, dense_inputs):
        emb = self.embedding(sparse_inputs)
        inputs = paddle.concat([emb.reshape([emb.shape[0], -1]), dense_inputs], axis=1)
        cross_out, l2_reg_cross_loss = self._cross_net(inputs)
        logit = self.fc(paddle.concat([self.dnn(inputs), cross_out], axis=-1))
        return F.sigmoid(logit), l2_reg_cross_loss


def network():
    return DeepCroLayer(40, 4, 3, 5, [12, 6], cross_num=3, l2_reg_cross=5e-3)


def loss(net):
    rng = np.random.RandomState(6)
    sparse = paddle.to_tensor(rng.randint(0, 40, size=(6, 5)).astype("int64"))
    dense = paddle.to_tensor(rng.rand(6, 3).astype(paddle.get_default_dtype()))
    label = paddle.to_tensor(rng.randint(0, 2, size=(6, 1)).astype(paddle.get_default_dtype()))
    pred, l2_reg_cross_loss = net(sparse, dense)
    return paddle.mean(F.binary_cross_entropy(pred, label)) + l2_reg_cross_loss


def build():
    net = network()
    return loss(net), net
