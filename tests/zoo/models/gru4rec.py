"""GRU4Rec: sessions in a recurrent net, scores of all items by the embedding table, the BPR loss within a batch."""

import numpy as np
import paddle
import paddle.nn as nn
import paddle.nn.functional as F


class GRU4Rec(nn.Layer):
    def __init__(self, n_items, hidden_size, num_layers=1):
        super().__init__()
        self.item_embedding = nn.Embedding(n_items, hidden_size, padding_idx=0)
        self.gru = nn.GRU(hidden_size, hidden_size, num_layers=num_layers)
        self.dense = nn.Linear(hidden_size, hidden_size)

    def forward(self, item_seq, item_seq_len):
        output, _ = self.gru(self.item_embedding(item_seq))
        output = self.dense(output)
        rows = paddle.arange(item_seq.shape[0], dtype=item_seq_len.dtype)
        return output.gather_nd(paddle.stack([rows, item_seq_len - 1], axis=1))

    def scores(self, session):
        return paddle.matmul(session, self.item_embedding.weight, transpose_y=True)


def bpr(scores, target):
    """The others of the batch are the negatives of each."""
    own = paddle.index_select(scores, target, axis=1)
    right = paddle.diagonal(own).unsqueeze(1)
    wrong = 1.0 - paddle.eye(target.shape[0], dtype=scores.dtype)
    return -(F.log_sigmoid(right - own) * wrong).sum() / wrong.sum()


def network():
    return GRU4Rec(n_items=16, hidden_size=6)


def loss(net):
    rng = np.random.RandomState(4)
    lengths = np.array([5, 3, 4, 2])
    items = rng.randint(1, 16, size=(4, 5)) * (np.arange(5) < lengths[:, None])
    scores = net.scores(net(paddle.to_tensor(items), paddle.to_tensor(lengths)))
    return bpr(scores, paddle.to_tensor(np.array([3, 7, 11, 1]))) + 1e-3 * scores.square().mean()


def build():
    net = network()
    return loss(net), net
