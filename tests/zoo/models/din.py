"""Deep interest network: the candidate attends to the history through a small net of differences and products."""

import numpy as np
import paddle
import paddle.nn as nn


class DINLayer(nn.Layer):
    def __init__(self, item_emb_size, cat_emb_size, act, item_count, cat_count, is_sparse):
        super().__init__()
        self.item_emb_size = item_emb_size
        self.cat_emb_size = cat_emb_size
        self.act = act

        self.hist_item_emb_attr = paddle.nn.Embedding(item_count, item_emb_size, sparse=is_sparse, name="item_emb")
        self.hist_cat_emb_attr = paddle.nn.Embedding(cat_count, cat_emb_size, sparse=is_sparse, name="cat_emb")
        self.item_b_attr = paddle.nn.Embedding(
            item_count, 1, sparse=is_sparse, weight_attr=paddle.ParamAttr(initializer=nn.initializer.Constant(0.0))
        )

        width = item_emb_size + cat_emb_size
        self.attention_layer = []
        sizes = [width * 4, 16, 8, 1]
        for i in range(3):
            linear = paddle.nn.Linear(in_features=sizes[i], out_features=sizes[i + 1], name=f"attention_{i}")
            self.add_sublayer(f"attention_layer_{i}", linear)
            self.attention_layer.append(linear)
            if act == "sigmoid" and i < 2:
                act_layer = nn.Sigmoid()
                self.add_sublayer(f"attention_act_{i}", act_layer)
                self.attention_layer.append(act_layer)

        self.hist_fc = nn.Linear(width, width)
        self.con_layer = nn.Sequential(
            nn.Linear(width * 2, 10),
            nn.Sigmoid(),
            nn.Linear(10, 5),
            nn.Sigmoid(),
            nn.Linear(5, 1),
        )

    def forward(self, hist_item_seq, hist_cat_seq, target_item, target_cat, mask):
        hist = paddle.concat([self.hist_item_emb_attr(hist_item_seq), self.hist_cat_emb_attr(hist_cat_seq)], axis=2)
        target = paddle.concat([self.hist_item_emb_attr(target_item), self.hist_cat_emb_attr(target_cat)], axis=1)
        item_b = self.item_b_attr(target_item)

        seq_len = hist.shape[1]
        target_seq = paddle.expand(target.unsqueeze(1), [-1, seq_len, target.shape[1]])
        concat = paddle.concat([hist, target_seq, hist - target_seq, hist * target_seq], axis=2)
        for attlayer in self.attention_layer:
            concat = attlayer(concat)
        atten_fc3 = concat + mask
        atten_fc3 = paddle.transpose(x=atten_fc3, perm=[0, 2, 1])
        atten_fc3 = paddle.scale(x=atten_fc3, scale=target.shape[1] ** -0.5)
        weight = paddle.nn.functional.softmax(x=atten_fc3)
        output = paddle.reshape(paddle.matmul(weight, hist), shape=[0, target.shape[1]])
        concat = paddle.concat([self.hist_fc(output), target], axis=1)
        return self.con_layer(concat) + item_b


def network(is_sparse=False):
    # The gradient of a sparse table has, in Paddle, only the rows that were looked up: recorded are whole ones.
    return DINLayer(6, 4, "sigmoid", item_count=30, cat_count=8, is_sparse=is_sparse)


def loss(net):
    rng = np.random.RandomState(33)
    kept = np.array([5, 3, 4])
    items, cats = rng.randint(1, 30, size=(3, 5)), rng.randint(1, 8, size=(3, 5))
    absent = np.arange(5) >= kept[:, None]
    mask = np.where(absent, -1e9, 0.0)[:, :, None].astype(paddle.get_default_dtype())
    logit = net(
        *[paddle.to_tensor((x * ~absent).astype("int64")) for x in (items, cats)],
        paddle.to_tensor(np.array([3, 9, 27], dtype="int64")),
        paddle.to_tensor(np.array([1, 2, 7], dtype="int64")),
        paddle.to_tensor(mask),
    )
    label = paddle.to_tensor(np.array([[1], [0], [1]], dtype=paddle.get_default_dtype()))
    avg_loss = paddle.nn.functional.binary_cross_entropy_with_logits(logit, label, reduction="mean")
    return avg_loss


def build():
    net = network(is_sparse=True)
    return loss(net), net
