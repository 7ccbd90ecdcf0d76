"""TextCNN: filters of three widths over embedded words, the largest response of each, a classifier."""

import numpy as np
import paddle
import paddle.nn as nn
import paddle.nn.functional as F


class TextCNN(nn.Layer):
    def __init__(self, vocab_size, num_classes, emb_dim=8, num_filter=4, ngram_filter_sizes=(2, 3, 4), padding_idx=0):
        super().__init__()
        self.embedder = nn.Embedding(vocab_size, emb_dim, padding_idx=padding_idx)
        self.convs = nn.LayerList([nn.Conv2D(1, num_filter, kernel_size=(k, emb_dim)) for k in ngram_filter_sizes])
        self.projector = nn.Linear(num_filter * len(ngram_filter_sizes), 10)
        self.fc = nn.Linear(10, num_classes)

    def forward(self, text):
        embedded_text = self.embedder(text).unsqueeze(1)
        convs_out = [paddle.tanh(conv(embedded_text)).squeeze(3) for conv in self.convs]
        maxpool_out = [F.adaptive_max_pool1d(t, output_size=1).squeeze(2) for t in convs_out]
        result = paddle.concat(maxpool_out, axis=1)
        return self.fc(paddle.tanh(self.projector(result)))


def network():
    return TextCNN(vocab_size=20, num_classes=3)


def loss(net):
    rng = np.random.RandomState(10)
    text = rng.randint(1, 20, size=(4, 7)).astype("int64")
    text[2, 5:] = 0
    return nn.CrossEntropyLoss()(net(paddle.to_tensor(text)), paddle.to_tensor(np.array([0, 2, 1, 2])))


def build():
    net = network()
    return loss(net), net
