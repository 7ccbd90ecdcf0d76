"""Behaviour sequence transformer: attention over the history and the candidate, then a deep net for clicks."""

import math

import numpy as np
import paddle
import paddle.nn as nn
import paddle.nn.functional as F


class PointWiseFeedForward(nn.Layer):
    def __init__(self, d_model, d_inner):
        super().__init__()
        self.fc1 = nn.Linear(d_model, d_inner)
        self.fc2 = nn.Linear(d_inner, d_model)

    def forward(self, x):
        return self.fc2(F.leaky_relu(self.fc1(x)))


class BSTLayer(nn.Layer):
    def __init__(self, users, items, cats, positions, dim, n_head, layers, dnn_sizes, is_sparse=True):
        super().__init__()
        self.n_head = n_head
        self.d_model = d_model = 3 * dim
        self.d_key = d_model // n_head
        normal = nn.initializer.Normal(std=1.0 / math.sqrt(float(dim)))
        self.hist_item_emb_attr = nn.Embedding(
            items, dim, sparse=is_sparse, weight_attr=paddle.ParamAttr(initializer=normal)
        )
        self.hist_cat_emb_attr = nn.Embedding(
            cats, dim, sparse=is_sparse, weight_attr=paddle.ParamAttr(initializer=normal)
        )
        self.hist_position_emb_attr = nn.Embedding(
            positions, dim, sparse=is_sparse, weight_attr=paddle.ParamAttr(initializer=normal)
        )
        self.userid_attr = nn.Embedding(users, dim, sparse=is_sparse, weight_attr=paddle.ParamAttr(initializer=normal))
        self.blocks = nn.LayerList()
        for _ in range(layers):
            block = nn.Layer()
            block.q_linear = nn.Linear(d_model, d_model)
            block.k_linear = nn.Linear(d_model, d_model)
            block.v_linear = nn.Linear(d_model, d_model)
            block.out = nn.Linear(d_model, d_model)
            block.norm_attention = nn.LayerNorm(d_model)
            block.feed = PointWiseFeedForward(d_model, 2 * d_model)
            block.norm_feed = nn.LayerNorm(d_model)
            self.blocks.append(block)
        self.length = positions
        sizes = [dim + positions * d_model, *dnn_sizes]
        self.dnn = nn.LayerList([nn.Linear(a, b) for a, b in zip(sizes, dnn_sizes, strict=False)])
        self.norms = nn.LayerList([nn.BatchNorm1D(b) for b in dnn_sizes])
        self.last = nn.Linear(dnn_sizes[-1], 1)

    def _heads(self, x):
        return paddle.transpose(paddle.reshape(x, [0, 0, self.n_head, self.d_key]), perm=[0, 2, 1, 3])

    def attend(self, block, x, bias):
        q, k, v = self._heads(block.q_linear(x)), self._heads(block.k_linear(x)), self._heads(block.v_linear(x))
        product = paddle.matmul(x=q, y=k, transpose_y=True) * self.d_key**-0.5 + bias
        ctx = paddle.transpose(paddle.matmul(F.softmax(product), v), perm=[0, 2, 1, 3])
        return block.out(paddle.reshape(ctx, [0, 0, self.d_model]))

    def forward(self, userid, history, cate, position, target, target_cate, target_position, bias):
        item = paddle.concat(
            [self.hist_item_emb_attr(history), self.hist_cat_emb_attr(cate), self.hist_position_emb_attr(position)],
            axis=-1,
        )
        candidate = paddle.concat(
            [
                self.hist_item_emb_attr(target),
                self.hist_cat_emb_attr(target_cate),
                self.hist_position_emb_attr(target_position),
            ],
            axis=-1,
        )
        x = paddle.concat([item, candidate], axis=1)
        for block in self.blocks:
            x = block.norm_attention(x + self.attend(block, x, bias))
            x = block.norm_feed(x + block.feed(x))
        user = paddle.squeeze(self.userid_attr(userid), axis=1)
        y = paddle.concat([paddle.reshape(x, [0, self.length * self.d_model]), user], axis=1)
        for linear, norm in zip(self.dnn, self.norms, strict=False):
            y = F.leaky_relu(norm(linear(y)))
        return F.sigmoid(self.last(y))


CONFIG = {"users": 10, "items": 30, "cats": 8, "positions": 5, "dim": 4, "n_head": 2, "layers": 1, "dnn_sizes": [16, 8]}


def network():
    # The gradient of a sparse table has, in Paddle, only the rows that were looked up: recorded are whole ones.
    return BSTLayer(**CONFIG, is_sparse=False)


def loss(net):
    rng = np.random.RandomState(71)
    batch, past = 4, 4
    ids = lambda high, *shape: paddle.to_tensor(rng.randint(0, high, size=shape).astype("int64"))  # noqa: E731
    position = paddle.to_tensor(np.tile(np.arange(past, dtype="int64"), [batch, 1]))
    last = paddle.full([batch, 1], past, dtype="int64")
    bias = np.zeros((batch, 1, 1, past + 1))
    bias[1, ..., :2] = -1e9
    pred = net(
        ids(10, batch, 1),
        ids(30, batch, past),
        ids(8, batch, past),
        position,
        ids(30, batch, 1),
        ids(8, batch, 1),
        last,
        paddle.to_tensor(bias.astype(paddle.get_default_dtype())),
    )
    label = paddle.to_tensor(np.array([[1], [0], [0], [1]]).astype(paddle.get_default_dtype()))
    return paddle.mean(F.binary_cross_entropy(input=pred, label=label))


def build():
    net = BSTLayer(**CONFIG)
    return loss(net), net
