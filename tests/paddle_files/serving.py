"""Layers as people save them to serve them, for ``recording.py``: with operators that only such files have."""

from __future__ import annotations

from typing import Any

import paddle
import paddle.nn.functional as F

from tests.paddle_files.branching import Layer


class Recognizer(paddle.nn.Layer):
    """A recurrent layer over a batch of any size, which begins with zeros of that size."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = paddle.nn.LSTM(1, 2, direction="bidirect")
        self.head = paddle.nn.Linear(4, 3)

    def forward(self, x: Any) -> Any:
        return F.log_softmax(self.head(self.layer(x.unsqueeze(-1))[0])).max(-1).mean()


class Greedy(Layer):
    """A loop with variables that it makes itself: what they are before it, nobody says."""

    def forward(self, x: Any) -> Any:
        h, i = self.first(x), paddle.zeros([1], "int64")
        while i < 3:
            scores = self.second(h)
            h = h + paddle.tanh(scores)
            i = i + 1
        return h.mean()


class Infinite(Layer):
    """Numbers that JSON has not, and counts that are tensors."""

    def forward(self, x: Any) -> Any:
        h = paddle.repeat_interleave(self.first(x), paddle.to_tensor([2, 1, 1]), 1)
        return paddle.linalg.norm(h, p=float("inf"), axis=1).sum() + paddle.clip(self.second(h[:, :3]), min=0.0).mean()


class Mistold(Layer):
    """Operators of which Paddle's files say another type or shape than its kernels make."""

    def forward(self, x: Any) -> Any:
        a = self.first(x)[:3] + 3 * paddle.eye(3)
        return paddle.linalg.slogdet(a)[1] + paddle.linalg.matrix_rank(a).astype("float32") * self.second(x).mean()


SERVED = (Recognizer, Greedy, Infinite, Mistold)
"""Each is saved and differentiated."""
