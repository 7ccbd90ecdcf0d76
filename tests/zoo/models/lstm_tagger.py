"""A bidirectional LSTM that tags characters, with a linear-chain CRF written out as a forward recursion."""

import numpy as np
import paddle
from paddle import nn


class CRF(nn.Layer):
    """Log-likelihood of a path of tags: its score less the log-sum over all paths."""

    def __init__(self, tags):
        super().__init__()
        self.transitions = self.create_parameter([tags, tags], default_initializer=nn.initializer.Normal(0, 0.1))
        self.start = self.create_parameter([tags], default_initializer=nn.initializer.Normal(0, 0.1))
        self.stop = self.create_parameter([tags], default_initializer=nn.initializer.Normal(0, 0.1))

    def normalizer(self, emissions, mask):
        alpha = self.start.unsqueeze(0) + emissions[:, 0]
        for step in range(1, emissions.shape[1]):
            scores = alpha.unsqueeze(2) + self.transitions.unsqueeze(0) + emissions[:, step].unsqueeze(1)
            following = paddle.logsumexp(scores, axis=1)
            held = mask[:, step].unsqueeze(1)
            alpha = held * following + (1 - held) * alpha
        return paddle.logsumexp(alpha + self.stop, axis=1)

    def score(self, emissions, tags, mask, lengths):
        emitted = paddle.take_along_axis(emissions, tags.unsqueeze(2), axis=2).squeeze(2)
        moves = paddle.gather_nd(self.transitions, paddle.stack([tags[:, :-1], tags[:, 1:]], axis=-1))
        last = paddle.take_along_axis(tags, (lengths - 1).unsqueeze(1), axis=1).squeeze(1)
        inner = (emitted * mask).sum(axis=1) + (moves * mask[:, 1:]).sum(axis=1)
        return inner + paddle.gather(self.start, tags[:, 0]) + paddle.gather(self.stop, last)

    def forward(self, emissions, tags, lengths):
        mask = nn.functional.sequence_mask(lengths, maxlen=emissions.shape[1], dtype=paddle.get_default_dtype())
        return self.normalizer(emissions, mask) - self.score(emissions, tags, mask, lengths)


class Tagger(nn.Layer):
    def __init__(self, vocab_size, num_tags, emb_size=8, hidden_size=6, num_layers=2):
        super().__init__()
        self.word_embedding = nn.Embedding(vocab_size, emb_size, padding_idx=0)
        self.lstm = nn.LSTM(emb_size, hidden_size, num_layers=num_layers, direction="bidirectional", dropout=0.0)
        self.fc = nn.Linear(hidden_size * 2, num_tags)
        self.crf = CRF(num_tags)

    def forward(self, ids, lengths, tags):
        encoded, _ = self.lstm(self.word_embedding(ids), sequence_length=lengths)
        return self.crf(self.fc(encoded), tags, lengths)


def network():
    return Tagger(vocab_size=15, num_tags=5)


def loss(net):
    rng = np.random.RandomState(0)
    lengths = np.array([7, 5, 3], dtype="int64")
    ids = rng.randint(1, 15, size=(3, 7)) * (np.arange(7) < lengths[:, None])
    tags = rng.randint(0, 5, size=(3, 7)) * (np.arange(7) < lengths[:, None])
    return net(paddle.to_tensor(ids), paddle.to_tensor(lengths), paddle.to_tensor(tags)).mean()


if __name__ == "__main__":
    net = network()
    optimizer = paddle.optimizer.Adam(
        learning_rate=1e-2,
        parameters=net.parameters(),
        grad_clip=nn.ClipGradByGlobalNorm(5.0),
    )
    cost = loss(net)
    cost.backward()
    optimizer.step()
