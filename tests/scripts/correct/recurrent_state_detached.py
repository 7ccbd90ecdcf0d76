# about     Truncated backpropagation: the state of the LSTM is carried over the batches and detached between them.
import argparse

import paddle
import paddle.nn.functional as F
from paddle import nn


class CharModel(nn.Layer):
    def __init__(self, letters, size):
        super().__init__()
        self.embed = nn.Embedding(letters, size)
        self.rnn = nn.LSTM(size, size)
        self.out = nn.Linear(size, letters)

    def forward(self, ids, state=None):
        outputs, state = self.rnn(self.embed(ids), state)
        return self.out(outputs), state


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--length", type=int, default=5)
    args = p.parse_args()
    text = "the quick brown fox jumps over the lazy dog " * 4
    letters = sorted(set(text))
    ids = paddle.to_tensor([[letters.index(c) for c in text]])
    model = CharModel(len(letters), 12)
    opt = paddle.optimizer.Adam(5e-3, parameters=model.parameters())
    state = None
    for start in range(0, 40, args.length):
        x = ids[:, start : start + args.length]
        y = ids[:, start + 1 : start + 1 + args.length]
        logits, state = model(x, state)
        loss = F.cross_entropy(logits.reshape([-1, len(letters)]), y.reshape([-1]))
        opt.clear_grad()
        loss.backward()
        opt.step()
        state = tuple(s.detach() for s in state)


if __name__ == "__main__":
    main()
