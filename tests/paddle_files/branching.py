"""Layers with branches, loops and lists of tensors, as users of Paddle write them, for ``recording.py``."""

from __future__ import annotations

from typing import Any

import paddle


class Layer(paddle.nn.Layer):
    """Two linear parts of width 3."""

    def __init__(self) -> None:
        super().__init__()
        self.first = paddle.nn.Linear(3, 3)
        self.second = paddle.nn.Linear(3, 3)


class BranchThenLoop(Layer):
    """A branch, and a loop over what it gives."""

    def forward(self, x: Any) -> Any:
        h = self.first(x)
        if h.sum() > 0:
            h = paddle.tanh(h)
            h = h - 0.5
        else:
            h = h * 2
        i = paddle.to_tensor(0)
        while i < 3:
            h = h + self.second(h) * 0.1
            i = i + 1
        return h.mean()


class Nested(Layer):
    """A loop in a loop, and a branch in a branch in it."""

    def forward(self, x: Any) -> Any:
        i = paddle.to_tensor(0)
        h = x
        while i < 3:
            j = paddle.to_tensor(0)
            while j < i:
                h = paddle.tanh(self.first(h)) * 0.5
                j = j + 1
            if h.sum() > -100.0:
                h = self.second(h) * 1.5
                if h.max() > 0.1:
                    h = h / h.max()
            i = i + 1
        return h.mean()


class BreakAndContinue(Layer):
    """A loop over a range that ends early."""

    def forward(self, x: Any) -> Any:
        h = x
        for i in range(paddle.shape(x)[0] + 3):
            h = paddle.tanh(self.first(h))
            if i == 1:
                continue
            h = self.second(h) * 1.1
            if i > 2:
                break
        return h.mean()


class Lists(Layer):
    """A list that a loop lengthens; places of it, also from its end, and all of it."""

    def forward(self, x: Any) -> Any:
        outs = []
        h = x
        i = paddle.to_tensor(0)
        while i < 4:
            h = paddle.tanh(self.first(h))
            outs.append(h)
            i = i + 1
        return paddle.stack(outs).mean() + self.second(outs[-1]).sum() + (outs[0] * outs[2]).max()


class Popped(Layer):
    """A list that a loop lengthens, of which places are taken out."""

    def forward(self, x: Any) -> Any:
        outs = []
        h = x
        i = paddle.to_tensor(0)
        while i < 4:
            h = paddle.tanh(self.first(h))
            outs.append(h)
            i = i + 1
        last = outs.pop()
        first = outs.pop(0)
        return paddle.stack(outs).mean() + self.second(last).sum() + first.max()


class Joined(Layer):
    """A list whose parts are put one after another."""

    def forward(self, x: Any) -> Any:
        outs = []
        h = x
        for _ in range(paddle.shape(x)[0]):
            h = self.first(h)
            outs.append(self.second(h))
        return paddle.concat(outs, 0).mean()


class EarlyReturn(Layer):
    """Two ways out."""

    def forward(self, x: Any) -> Any:
        if x.mean() > 10:
            return self.first(x).mean()
        return self.second(x).mean()


class NeverEntered(Layer):
    """A loop of no rounds."""

    def forward(self, x: Any) -> Any:
        h = self.first(x)
        i = paddle.to_tensor(5)
        while i < 3:
            h = self.second(h)
            i = i + 1
        return h.mean()


class Swapped(Layer):
    """A loop that exchanges its variables."""

    def forward(self, x: Any) -> Any:
        a, b = self.first(x), self.second(x)
        i = paddle.to_tensor(0)
        while i < 3:
            a, b = b, a * 0.5
            i = i + 1
        return (a - 3.0 * b).mean()


LAYERS = (BranchThenLoop, Nested, BreakAndContinue, Lists, Popped, Joined, EarlyReturn, NeverEntered, Swapped)
