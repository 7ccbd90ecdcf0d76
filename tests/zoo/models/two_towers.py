"""Two towers: queries and documents by cosine, the negatives of a batch by rotation, temperature inside the softmax."""

import numpy as np
import paddle
import paddle.nn as nn
import paddle.nn.functional as F


class Tower(nn.Layer):
    def __init__(self, vocabulary, dim, sizes):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, dim, padding_idx=0)
        self.mlp = nn.Sequential()
        for i, (a, b) in enumerate(zip([dim, *sizes], sizes, strict=False)):
            self.mlp.add_sublayer(f"fc{i}", nn.Linear(a, b))
            if i + 1 < len(sizes):
                self.mlp.add_sublayer(f"act{i}", nn.LeakyReLU(0.1))

    def forward(self, ids):
        present = (ids != 0).astype(self.embedding.weight.dtype).unsqueeze(-1)
        pooled = (self.embedding(ids) * present).sum(1) / present.sum(1).clip(min=1.0)
        return self.mlp(pooled)


class TwoTowers(nn.Layer):
    def __init__(self, users, items, negatives=3, gamma=10.0):
        super().__init__()
        self.user = Tower(users, 6, [10, 5])
        self.item = Tower(items, 6, [10, 5])
        self.negatives = negatives
        self.gamma = gamma

    def forward(self, user_ids, item_ids):
        user, item = self.user(user_ids), self.item(item_ids)
        right = F.cosine_similarity(user, item, axis=1).reshape([-1, 1])
        wrong = [
            F.cosine_similarity(user, paddle.roll(item, shifts=k + 1, axis=0), axis=1).reshape([-1, 1])
            for k in range(self.negatives)
        ]
        prob = F.softmax(paddle.concat([right, *wrong], axis=1) * self.gamma, axis=1)
        hit_prob = paddle.slice(prob, axes=[0, 1], starts=[0, 0], ends=[prob.shape[0], 1])
        return -paddle.mean(paddle.log(hit_prob))


def network():
    return TwoTowers(users=20, items=25)


def loss(net):
    rng = np.random.RandomState(17)
    users = rng.randint(1, 20, size=(5, 3)).astype("int64")
    items = rng.randint(1, 25, size=(5, 4)).astype("int64")
    users[1, 2:], items[3, 1:] = 0, 0
    return net(paddle.to_tensor(users), paddle.to_tensor(items))


def build():
    net = network()
    return loss(net), net
