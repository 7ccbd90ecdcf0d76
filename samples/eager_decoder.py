"""Dynamic mode: a decoder of twelve blocks, and the graph that its backward pass walks.

Train it (a few seconds)::

    python samples/eager_decoder.py

Let one backward pass write the graph of all twelve blocks, or see which gradients it gives, and the tape::

    python samples/eager_decoder.py graphs
    gradtool graph --dump graphs samples/eager_decoder.py
    gradtool backward samples/eager_decoder.py --no-grad 'blocks.0.*'
    gradtool graph samples/eager_decoder.py --pairs

The model reads numbers and says which comes next; the text is a count from 0 to 9, over and over. Every block adds to
what came before it (pre-norm, as in GPT-2), so gradients reach the first block as easily as the last.
"""

import sys

import numpy as np

import gradtool

gradtool.as_paddle()  # from here on `import paddle` finds gradtool

import paddle  # noqa: E402
import paddle.nn.functional as F  # noqa: E402

paddle.disable_static()

WORDS, LENGTH, WIDTH, HEADS, BLOCKS = 10, 12, 16, 2, 12


class Block(paddle.nn.Layer):
    """Attention to what came before, then two layers on each place alone; both are added to the input."""

    def __init__(self):
        super().__init__()
        self.before_attention = paddle.nn.LayerNorm(WIDTH)
        self.query_key_value = paddle.nn.Linear(WIDTH, 3 * WIDTH)
        self.joined = paddle.nn.Linear(WIDTH, WIDTH)
        self.before_layers = paddle.nn.LayerNorm(WIDTH)
        self.wide = paddle.nn.Linear(WIDTH, 4 * WIDTH)
        self.narrow = paddle.nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x):
        x = x + self.attention(self.before_attention(x))
        return x + self.narrow(F.gelu(self.wide(self.before_layers(x))))

    def attention(self, x):
        count, length, width = x.shape
        query, key, value = (
            paddle.transpose(paddle.reshape(part, [count, length, HEADS, width // HEADS]), [0, 2, 1, 3])
            for part in paddle.split(self.query_key_value(x), 3, axis=-1)
        )
        scores = paddle.matmul(query, key, transpose_y=True) * (width // HEADS) ** -0.5
        later = paddle.triu(paddle.full([length, length], -1e9), 1)
        mixed = paddle.matmul(F.softmax(scores + later), value)
        return self.joined(paddle.reshape(paddle.transpose(mixed, [0, 2, 1, 3]), [count, length, width]))


class Decoder(paddle.nn.Layer):
    def __init__(self):
        super().__init__()
        self.words = paddle.nn.Embedding(WORDS, WIDTH)
        self.places = paddle.nn.Embedding(LENGTH, WIDTH)
        self.blocks = paddle.nn.LayerList([Block() for _ in range(BLOCKS)])
        self.norm = paddle.nn.LayerNorm(WIDTH)
        self.scores = paddle.nn.Linear(WIDTH, WORDS)

    def forward(self, text):
        x = self.words(text) + self.places(paddle.arange(text.shape[1]))
        for block in self.blocks:
            x = block(x)
        return self.scores(self.norm(x))


def loss_of(model, text, following):
    """How surprised the model is by each next word, on average."""
    return F.cross_entropy(paddle.reshape(model(text), [-1, WORDS]), paddle.reshape(following, [-1, 1]))


def texts(count, seed=0):
    """Counts from 0 to 9 and on, each with another beginning, and the same one word later: [count, LENGTH] each."""
    starts = np.random.default_rng(seed).integers(0, WORDS, (count, 1))
    words = (starts + np.arange(LENGTH + 1)) % WORDS
    return words[:, :-1], words[:, 1:]


def build():
    """What the command line asks for: a loss, and the layer that it belongs to."""
    model = Decoder()
    return loss_of(model, *map(paddle.to_tensor, texts(2))), model


def train(model=None, steps=60, rate=0.3):
    """Train *model* (a fresh one by default); returns the loss of every step."""
    model, history = model or Decoder(), []
    descent = paddle.optimizer.SGD(learning_rate=rate, parameters=model.parameters())
    for step in range(steps):
        loss = loss_of(model, *map(paddle.to_tensor, texts(8, seed=step)))
        loss.backward()
        descent.step()
        descent.clear_grad()
        history.append(float(loss))
        if step % 10 == 0 or step == steps - 1:
            print(f"step {step:3}   loss {history[-1]:.4f}")
    return history


def dump(folder):
    """One backward pass that leaves its graph in *folder*."""
    model = Decoder()
    loss = loss_of(model, *map(paddle.to_tensor, texts(2)))
    loss.backward(dump_backward_graph_path=folder)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        dump(sys.argv[1])
    else:
        train()
