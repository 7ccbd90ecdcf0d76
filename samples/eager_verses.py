"""Dynamic mode: an LSTM that learns a poem letter by letter, and writes on in its manner.

Train it (some seconds)::

    python samples/eager_verses.py

See its backward part, or what each operator keeps for it::

    gradtool backward samples/eager_verses.py
    gradtool graph samples/eager_verses.py --pairs

The network over all letters is one operator, whose gradient computes the steps again and keeps no more than its inputs.
"""

from pathlib import Path

import numpy as np

import gradtool

gradtool.as_paddle()  # from here on `import paddle` finds gradtool

import paddle  # noqa: E402
import paddle.nn.functional as F  # noqa: E402
from paddle import nn  # noqa: E402

paddle.disable_static()

POEM = (Path(__file__).parent / "data" / "walrus.txt").read_text(encoding="utf-8")
LETTERS = sorted(set(POEM))
LENGTH, WIDTH = 24, 64  # letters that are read before the state starts anew, numbers in the state


class Writer(nn.Layer):
    """Scores for the letter that follows, after each letter of a text."""

    def __init__(self):
        super().__init__()
        self.letters = nn.Embedding(len(LETTERS), 16)
        self.reader = nn.LSTM(16, WIDTH)
        self.scores = nn.Linear(WIDTH, len(LETTERS))

    def forward(self, text, state=None):
        """Scores [N, length, letters] for a text [N, length] of letters' numbers, and the state after it."""
        outputs, state = self.reader(self.letters(text), state)
        return self.scores(outputs), state


def loss_of(model, text, following):
    """How surprised the model is by each letter that follows, on average."""
    scores, _ = model(text)
    return F.cross_entropy(scores.reshape([-1, len(LETTERS)]), following.reshape([-1, 1]))


def batches(count, size=16, seed=1):
    """Pieces of the poem, and the same pieces one letter later: [size, LENGTH] each."""
    numbers = np.array([LETTERS.index(letter) for letter in POEM])
    rng = np.random.default_rng(seed)
    for _ in range(count):
        places = rng.integers(0, len(numbers) - LENGTH, (size, 1)) + np.arange(LENGTH)
        yield numbers[places], numbers[places + 1]


def build():
    """What the command line asks for: a loss, and the layer that it belongs to."""
    model = Writer()
    text, following = next(batches(1))
    return loss_of(model, paddle.to_tensor(text), paddle.to_tensor(following)), model


def train(model=None, steps=150, rate=0.01):
    """Train *model* (a fresh one by default); returns the model and the loss of every step."""
    paddle.seed(1)
    model = model or Writer()
    descent = paddle.optimizer.Adam(learning_rate=rate, parameters=model.parameters())

    history = []
    for step, (text, following) in enumerate(batches(steps)):
        loss = loss_of(model, paddle.to_tensor(text), paddle.to_tensor(following))
        loss.backward()
        descent.step()
        descent.clear_grad()
        history.append(float(loss))
        if step % 25 == 0 or step == steps - 1:
            print(f"step {step:3}   loss {history[-1]:.4f}")
    return model, history


@paddle.no_grad()
def written(model, start, count=60, seed=1):
    """*start*, and *count* letters that the model writes after it."""
    rng = np.random.default_rng(seed)
    text, unread, state = start, start, None
    for _ in range(count):
        scores, state = model(paddle.to_tensor([[LETTERS.index(letter) for letter in unread]]), state)
        likely = F.softmax(2.0 * scores[0, -1]).numpy().astype("float64")
        unread = LETTERS[rng.choice(len(LETTERS), p=likely / likely.sum())]
        text += unread
    return text


if __name__ == "__main__":
    model, _ = train()
    print(written(model, "The Walrus "))
