"""Skip-gram with negative sampling: two tables and a logistic loss over one true and several drawn words."""

import math

import numpy as np
import paddle
import paddle.nn as nn
import paddle.nn.functional as F


class SkipGram(nn.Layer):
    def __init__(self, vocabulary, width, negatives):
        super().__init__()
        self.vocabulary = vocabulary
        self.negatives = negatives
        bound = 0.5 / width
        self.embedding = nn.Embedding(
            vocabulary,
            width,
            sparse=False,
            weight_attr=paddle.ParamAttr(name="emb", initializer=nn.initializer.Uniform(-bound, bound)),
        )
        self.embedding_w = nn.Embedding(
            vocabulary, width, weight_attr=paddle.ParamAttr(name="emb_w", initializer=nn.initializer.Normal(std=0.1))
        )
        self.embedding_b = nn.Embedding(
            vocabulary, 1, weight_attr=paddle.ParamAttr(name="emb_b", initializer=nn.initializer.Constant(0.0))
        )

    def forward(self, centre, context, noise):
        centre_emb = self.embedding(centre).squeeze(1)
        true_emb = self.embedding_w(context).squeeze(1)
        true_bias = self.embedding_b(context).squeeze(1)
        noise_emb = self.embedding_w(noise)
        noise_bias = self.embedding_b(noise).reshape([-1, self.negatives])

        true_logits = paddle.sum(centre_emb * true_emb, axis=1, keepdim=True) + true_bias
        centre_re = centre_emb.reshape([-1, 1, centre_emb.shape[1]])
        noise_logits = paddle.matmul(centre_re, noise_emb, transpose_y=True).reshape([-1, self.negatives]) + noise_bias
        return true_logits, noise_logits


def skip_gram_loss(true_logits, noise_logits):
    ones = paddle.full_like(true_logits, 1.0)
    zeros = paddle.full_like(noise_logits, 0.0)
    true_cost = F.binary_cross_entropy_with_logits(true_logits, ones, reduction="none")
    noise_cost = F.binary_cross_entropy_with_logits(noise_logits, zeros, reduction="none")
    return paddle.mean(paddle.sum(true_cost, axis=1) + paddle.sum(noise_cost, axis=1))


def pairs(words, window):
    for at, centre in enumerate(words):
        for other in range(max(0, at - window), min(len(words), at + window + 1)):
            if other != at:
                yield centre, words[other]


def network():
    return SkipGram(vocabulary=20, width=8, negatives=4)


def loss(net):
    rng = np.random.RandomState(3)
    text = rng.zipf(1.6, size=24) % 20
    counts = np.bincount(text, minlength=20) ** 0.75
    batch = np.array(list(pairs(text.tolist(), window=2)), dtype="int64")
    noise = rng.choice(20, size=(len(batch), 4), p=counts / counts.sum()).astype("int64")
    true_logits, noise_logits = net(
        paddle.to_tensor(batch[:, :1]), paddle.to_tensor(batch[:, 1:]), paddle.to_tensor(noise)
    )
    return skip_gram_loss(true_logits, noise_logits)


if __name__ == "__main__":
    net = network()
    optimizer = paddle.optimizer.SGD(learning_rate=0.1, parameters=net.parameters())
    for _ in range(2):
        cost = loss(net)
        cost.backward()
        optimizer.step()
        optimizer.clear_grad()
        assert math.isfinite(float(cost))
