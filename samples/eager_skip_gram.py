"""Word vectors by skip-gram with negative samples: two large tables of which each step touches a few rows.

Train it (two seconds)::

    python samples/eager_skip_gram.py

See how much of the gradients is zero::

    gradtool backward samples/eager_skip_gram.py

With ``sparse=True`` the gradient of a table holds only the rows that were looked up, and with ``lazy_mode`` Adam
updates only those, so a step costs the same whether the vocabulary has a hundred words or ten million.

The method is that of Mikolov et al., "Distributed Representations of Words and Phrases and their Compositionality"
(2013): a word and a word near it should have vectors with a large product, a word and a random word a small one.
"""

from pathlib import Path

import numpy as np

import gradtool

gradtool.as_paddle()  # from here on `import paddle` finds gradtool

import paddle  # noqa: E402
import paddle.nn as nn  # noqa: E402
import paddle.nn.functional as F  # noqa: E402

TEXT = Path(__file__).parent / "data" / "walrus.txt"
REACH = 3  # how many words on either side are near
NOISE = 5  # random words for each pair
WIDTH = 24  # numbers in a word's vector


def corpus():
    """The vocabulary, and all pairs of a word and a word near it, as ids [N, 2]."""
    words = "".join(c if c.isalpha() else " " for c in TEXT.read_text().lower()).split()
    vocabulary = sorted(set(words))
    place = {w: i for i, w in enumerate(vocabulary)}
    ids = np.array([place[w] for w in words])
    pairs = [(ids[i], ids[i + d]) for d in range(1, REACH + 1) for i in range(len(ids) - d)]
    return vocabulary, np.array(pairs + [(b, a) for a, b in pairs])


class SkipGram(nn.Layer):
    """How unlikely it finds pairs of words that occur, and how likely pairs that do not."""

    def __init__(self, size):
        super().__init__()
        start = paddle.ParamAttr(initializer=nn.initializer.Uniform(-0.5 / WIDTH, 0.5 / WIDTH))
        self.words = nn.Embedding(size, WIDTH, sparse=True, weight_attr=start)
        self.near = nn.Embedding(size, WIDTH, sparse=True)

    def forward(self, word, near, noise):
        vector = self.words(word).unsqueeze(-1)  # [N, WIDTH, 1]
        found = paddle.bmm(self.near(near.unsqueeze(-1)), vector)  # [N, 1, 1]
        others = paddle.bmm(self.near(noise), vector)  # [N, NOISE, 1]
        return -(F.log_sigmoid(found).mean() + F.log_sigmoid(-others).sum(axis=1).mean())


def batches(size, pairs, steps, rng, batch=64):
    """Pairs drawn at random, with words drawn at random to tell them from."""
    for _ in range(steps):
        word, near = pairs[rng.integers(0, len(pairs), batch)].T
        noise = rng.integers(0, size, (batch, NOISE))
        yield paddle.to_tensor(word), paddle.to_tensor(near), paddle.to_tensor(noise)


def build():
    """What the command line asks for: the loss of one batch, and the model."""
    vocabulary, pairs = corpus()
    paddle.seed(1)
    model = SkipGram(len(vocabulary))
    return model(*next(batches(len(vocabulary), pairs, 1, np.random.default_rng(1)))), model


def train(steps=1500):
    """Returns the vocabulary, the model and the loss of every step."""
    vocabulary, pairs = corpus()
    paddle.seed(1)
    model = SkipGram(len(vocabulary))
    adam = paddle.optimizer.Adam(learning_rate=0.01, parameters=model.parameters(), lazy_mode=True)
    history = []
    for word, near, noise in batches(len(vocabulary), pairs, steps, np.random.default_rng(1)):
        loss = model(word, near, noise)
        loss.backward()
        adam.step()
        adam.clear_grad()
        history.append(float(loss))
        if len(history) % 300 == 0:
            print(f"step {len(history):4}   loss {np.mean(history[-100:]):.3f}")
    return vocabulary, model, history


def nearest(vocabulary, model, word, count=3):
    """The words whose vectors point most nearly the same way as that of *word*."""
    vectors = model.words.weight.numpy()
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    likeness = vectors @ vectors[vocabulary.index(word)]
    return [vocabulary[i] for i in np.argsort(-likeness)[1 : count + 1]]


if __name__ == "__main__":
    vocabulary, model, _ = train()
    for word in ("walrus", "oysters", "sun"):
        print(f"{word}: {', '.join(nearest(vocabulary, model, word))}")
