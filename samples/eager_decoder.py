"""Dynamic mode: a decoder of twelve blocks, and the graph that its backward pass walks.

Train it (a few seconds)::

    python samples/eager_decoder.py

See which gradients one pass gives, the tape, or write the graph of all twelve blocks::

    gradtool backward samples/eager_decoder.py --no-grad 'blocks.0.*'
    gradtool program samples/eager_decoder.py --pairs
    gradtool dump samples/eager_decoder.py graphs

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
        later = paddle.to_tensor(np.triu(np.full((length, length), -1e9, "float32"), 1))
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


def texts(count, seed=0):
    """Counts from 0 to 9 and on, each with another beginning: [count, LENGTH + 1]."""
    starts = np.random.default_rng(seed).integers(0, WORDS, (count, 1))
    return (starts + np.arange(LENGTH + 1)) % WORDS


def loss_of(model, text):
    """How surprised the model is by each next word, on average."""
    scores = model(paddle.to_tensor(text[:, :-1]))
    expected = paddle.to_tensor(text[:, 1:].reshape(-1, 1))
    return F.cross_entropy(paddle.reshape(scores, [-1, WORDS]), expected)


def train(steps=60, rate=0.3):
    """Descend along the gradient; returns the losses."""
    model, history = Decoder(), []
    for step in range(steps):
        loss = loss_of(model, texts(8, seed=step))
        loss.backward()
        with paddle.no_grad():
            for p in model.parameters():
                p.set_value(p - rate * p.grad)
                p.clear_gradient(False)
        history.append(loss.item())
    return history


def dump(folder):
    """One backward pass that leaves its graph in *folder*."""
    loss_of(Decoder(), texts(2)).backward(dump_backward_graph_path=folder)


def build():
    model = Decoder()
    return loss_of(model, texts(2)), model


if __name__ == "__main__":
    if len(sys.argv) > 1:
        dump(sys.argv[1])
    for step, loss in enumerate(train()):
        if step % 10 == 0:
            print(f"step {step:3}  loss {loss:.3f}")
