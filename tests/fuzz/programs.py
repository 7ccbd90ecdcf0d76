"""The programs whose files are changed: layers and a loss, branches, a loop, and a training step."""

from __future__ import annotations

from collections.abc import Callable

from gradtool import paddle
from gradtool.paddle.static import Program


def classifier() -> None:
    """Convolution, normalisation, pooling, dropout, and a training step."""
    image = paddle.static.data("image", [None, 1, 6, 6])
    label = paddle.static.data("label", [None, 1], "int64")
    h = paddle.static.nn.conv2d(image, 2, 3, act="relu", name="conv")
    h = paddle.static.nn.batch_norm(h, name="norm")
    h = paddle.nn.functional.dropout(paddle.nn.functional.max_pool2d(h, 2, 2), 0.5)
    logits = paddle.static.nn.fc(h, 3, name="head")
    loss = paddle.mean(paddle.nn.functional.softmax_with_cross_entropy(logits, label))
    paddle.optimizer.Adam(0.01).minimize(loss)


def words() -> None:
    """Indices, concatenation, transposition, a norm, a frozen weight."""
    ids = paddle.static.data("ids", [2, 3], "int64")
    table = paddle.static.nn.embedding(ids, size=[7, 4])
    frozen = paddle.static.create_parameter([4, 4], "float32", name="frozen")
    frozen.stop_gradient = True
    h = paddle.concat([table, paddle.matmul(table, frozen)], axis=-1)
    h = paddle.transpose(paddle.nn.functional.layer_norm(h, 8), [1, 0, 2])
    first, second = paddle.split(paddle.reshape(h, [6, 8]), 2, axis=1)
    loss = paddle.sum(paddle.where(first > 0, first, paddle.exp(second)) ** 2)
    paddle.static.append_backward(loss)


def branches() -> None:
    """One of two branches, and one that only sometimes runs."""
    x = paddle.static.data("x", [2, 3])
    w = paddle.static.create_parameter([3, 3], "float32", name="w")
    h = paddle.matmul(x, w)
    h = paddle.static.nn.cond(paddle.mean(x) > 0.5, lambda: paddle.tanh(h), lambda: paddle.scale(h, 2.0, bias=1.0))
    paddle.static.append_backward(paddle.mean(h * h))


def loop() -> None:
    """A loop with a weight, and the loop of its gradient."""
    x = paddle.static.data("x", [2, 3])
    w = paddle.static.create_parameter([3, 3], "float32", name="w")
    i = paddle.full([1], 0, "int64")
    _, h = paddle.static.nn.while_loop(
        lambda i, h: paddle.less_than(i, paddle.full([1], 3, "int64")),
        lambda i, h: [i + 1, paddle.tanh(paddle.matmul(h, w))],
        [i, x],
    )
    paddle.static.append_backward(paddle.mean(h))


MODELS: tuple[Callable[[], None], ...] = (classifier, words, branches, loop)


def programs() -> list[Program]:
    """The programs, the same ones every time."""
    graphs = []
    for build in MODELS:
        program = Program()
        with paddle.static.program_guard(program, Program()):
            build()
        graphs.append(program)
    return graphs
