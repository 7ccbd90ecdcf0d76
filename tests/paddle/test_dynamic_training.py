"""Whole models learn in dynamic mode, with the same losses as the program that static mode builds of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gradtool import paddle
from gradtool.paddle import nn
from gradtool.paddle.nn import functional as F


class Images(nn.Layer):
    """A convolutional network that tells three kinds of images apart."""

    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2D(1, 4, 3, padding=1), nn.BatchNorm2D(4), nn.ReLU(), nn.MaxPool2D(2), nn.Flatten()
        )
        self.head = nn.Linear(36, 3)

    def forward(self, x: Any, y: Any) -> Any:
        return F.cross_entropy(self.head(self.body(x)), y)


class Steps(nn.Layer):
    """An LSTM cell that reads a sequence of five steps."""

    def __init__(self) -> None:
        super().__init__()
        self.cell = nn.LSTMCell(4, 8)
        self.head = nn.Linear(8, 1)

    def forward(self, x: Any, y: Any) -> Any:
        state = None
        for t in range(5):
            out, state = self.cell(x[:, t], state)
        return F.mse_loss(self.head(out), y)


class Block(nn.Layer):
    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.before = nn.LayerNorm(width)
        self.attention = nn.MultiHeadAttention(width, heads)
        self.between = nn.LayerNorm(width)
        self.wide = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x: Any, mask: Any) -> Any:
        x = x + self.attention(self.before(x), attn_mask=mask)
        return x + self.wide(self.between(x))


class Words(nn.Layer):
    """A decoder of two blocks that predicts the next of eleven words; input and output share a table."""

    def __init__(self) -> None:
        super().__init__()
        self.table = nn.Embedding(11, 16)
        self.places = nn.Embedding(8, 16)
        self.blocks = nn.LayerList([Block(16, 2) for _ in range(2)])
        self.after = nn.LayerNorm(16)

    def forward(self, ids: Any, following: Any) -> Any:
        size = ids.shape[1]
        x = self.table(ids) + self.places(paddle.arange(size))
        mask = (1 - paddle.tril(paddle.ones([size, size]))) * -1e9
        for block in self.blocks:
            x = block(x, mask)
        scores = paddle.matmul(self.after(x), self.table.weight, transpose_y=True)
        return F.cross_entropy(scores.reshape([-1, 11]), following.reshape([-1]))


def images(rng: Any) -> tuple[Any, Any]:
    return rng.normal(size=(12, 1, 6, 6)).astype("float32"), rng.integers(0, 3, 12)


def steps(rng: Any) -> tuple[Any, Any]:
    x = rng.normal(size=(6, 5, 4)).astype("float32")
    return x, np.tanh(x.sum((1, 2)))[:, None]


def words(rng: Any) -> tuple[Any, Any]:
    text = np.arange(4 * 8 + 1) * 3 % 11
    return text[:-1].reshape(4, 8), text[1:].reshape(4, 8)


Optimizer = Callable[[Any], Any]

CASES: dict[str, tuple[type[nn.Layer], Any, Optimizer]] = {
    "images": (Images, images, lambda p: paddle.optimizer.Momentum(0.05, parameters=p)),
    "steps": (Steps, steps, lambda p: paddle.optimizer.Adam(0.02, parameters=p)),
    "words": (
        Words,
        words,
        lambda p: paddle.optimizer.AdamW(0.01, parameters=p, grad_clip=nn.ClipGradByGlobalNorm(1.0)),
    ),
}
COUNT = 25


def start(path: str, value: Any) -> Any:
    """Where a parameter starts: scales and variances at 1, biases and means at 0, weights at random numbers."""
    array = np.asarray(value)
    if array.ndim < 2:
        return np.full_like(array, path.endswith(("weight", "_variance")))
    rng = np.random.default_rng(sum(map(ord, path)))
    return (rng.normal(size=array.shape) / np.sqrt(array.shape[0])).astype("float32")


def dynamic_losses(name: str) -> list[float]:
    make, data, optimizer = CASES[name]
    paddle.disable_static()
    x, y = (paddle.to_tensor(v) for v in data(np.random.default_rng(0)))
    model = make()
    for path, p in model.named_parameters():
        p.set_value(start(path, p))
    update = optimizer(model.parameters())
    losses = []
    for _ in range(COUNT):
        loss = model(x, y)
        loss.backward()
        update.step()
        update.clear_grad()
        losses.append(float(loss))
    return losses


def static_losses(name: str) -> list[float]:
    make, data, optimizer = CASES[name]
    paddle.enable_static()
    x, y = data(np.random.default_rng(0))
    model = make()
    loss = model(
        paddle.static.data("x", list(x.shape), str(x.dtype)), paddle.static.data("y", list(y.shape), str(y.dtype))
    )
    optimizer(model.parameters()).minimize(loss)
    exe = paddle.static.Executor()
    exe.run(paddle.static.default_startup_program())
    for path, p in model.named_parameters():
        p.set_value(start(path, p.get_value()))
    return [float(exe.run(feed={"x": x, "y": y}, fetch_list=[loss])[0]) for _ in range(COUNT)]


@pytest.mark.parametrize("name", CASES)
def test_models_learn_as_in_static_mode(name: str) -> None:
    with paddle.utils.unique_name.guard():
        dynamic = dynamic_losses(name)
    with paddle.utils.unique_name.guard():
        static = static_losses(name)
    np.testing.assert_allclose(dynamic, static, rtol=1e-3, atol=1e-5)
    assert dynamic[-1] < 0.2 * dynamic[0]


def test_a_penalty_on_gradients_reaches_the_weights() -> None:
    paddle.disable_static()
    paddle.seed(0)
    critic = nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 1))
    x = paddle.randn([4, 3])
    x.stop_gradient = False
    (slope,) = paddle.grad(critic(x).sum(), x, create_graph=True)
    penalty = ((slope.norm(2, axis=1) - 1) ** 2).mean()
    penalty.backward()

    def value() -> float:
        return float(((paddle.grad(critic(x).sum(), x)[0].norm(2, axis=1) - 1) ** 2).mean())

    weight = critic[0].weight
    step = 1e-2
    direction = weight.grad.numpy() / np.linalg.norm(weight.grad.numpy())
    base = weight.numpy()
    weight.set_value(base + step * direction)
    above = value()
    weight.set_value(base - step * direction)
    below = value()
    np.testing.assert_allclose((above - below) / (2 * step), np.linalg.norm(weight.grad.numpy()), rtol=1e-2)
