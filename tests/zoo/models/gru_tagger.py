"""A GRU tagger over a padded batch: chunks of different lengths, labels of the padding ignored by the loss."""

import numpy as np
import paddle
import paddle.nn as nn
from paddle.io import DataLoader, Dataset


class Sentences(Dataset):
    def __init__(self, count):
        rng = np.random.RandomState(11)
        self.rows = []
        for _ in range(count):
            length = int(rng.randint(3, 8))
            ids = rng.randint(2, 30, size=length).astype("int64")
            self.rows.append((ids, (ids % 4).astype("int64")))

    def __getitem__(self, index):
        return self.rows[index]

    def __len__(self):
        return len(self.rows)


def collate(rows):
    longest = max(len(ids) for ids, _ in rows)
    ids = np.zeros((len(rows), longest), dtype="int64")
    labels = np.full((len(rows), longest), -1, dtype="int64")
    for row, (words, tags) in enumerate(rows):
        ids[row, : len(words)] = words
        labels[row, : len(tags)] = tags
    return ids, np.array([len(words) for words, _ in rows], dtype="int64"), labels


class BiGRUTagger(nn.Layer):
    def __init__(self, word_emb_dim, hidden_size, vocab_size, num_labels):
        super().__init__()
        bound = 0.1
        uniform = paddle.ParamAttr(
            initializer=nn.initializer.Uniform(low=-bound, high=bound),
            regularizer=paddle.regularizer.L2Decay(coeff=1e-4),
        )
        self.word_embedding = nn.Embedding(vocab_size, word_emb_dim, weight_attr=uniform)
        self.gru = nn.GRU(word_emb_dim, hidden_size, num_layers=2, direction="bidirect")
        self.fc = nn.Linear(hidden_size * 2, num_labels, weight_attr=uniform)

    def forward(self, inputs, lengths):
        encoded, _hidden = self.gru(self.word_embedding(inputs), sequence_length=lengths)
        return self.fc(encoded)


def network():
    return BiGRUTagger(word_emb_dim=6, hidden_size=5, vocab_size=30, num_labels=4)


def loss(net):
    loader = DataLoader(Sentences(8), batch_size=4, shuffle=False, collate_fn=collate)
    criterion = nn.CrossEntropyLoss(ignore_index=-1)
    ids, lengths, labels = next(iter(loader))
    logits = net(ids, lengths)
    return criterion(logits.reshape([-1, 4]), labels.reshape([-1]))


def main():
    net = network()
    cost = loss(net)
    cost.backward()
    print("loss", round(cost.item(), 3))


if __name__ == "__main__":
    main()
