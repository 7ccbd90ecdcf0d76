"""``saved`` on JAX: answered as on NumPy, from what a compiled plan gives, with nothing leaving the device."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import numpy as np
import pytest

import gradtool
from gradtool import paddle
from gradtool.engine.answers.saved import SavedStory
from gradtool.engine.kernels.jax.assumptions import FIRST_ROWS
from gradtool.engine.kernels.jax.contents import contents
from gradtool.paddle import static

from .leaving import Leaving

Build = Callable[[Any], Any]


def _dense(x: Any) -> Any:
    h = static.nn.fc(x, 6, activation="relu")
    h = paddle.transpose(paddle.reshape(h, [2, 12]), [1, 0])
    same = paddle.tanh(h) * paddle.tanh(h) + paddle.assign(h)
    return paddle.mean(paddle.nn.functional.dropout(same, 0.5) ** 2)


def _image(x: Any) -> Any:
    image = paddle.reshape(x, [2, 3, 2, 2])
    h = static.nn.batch_norm(static.nn.conv2d(image, 4, 3, padding=1), act="relu")
    return paddle.mean(paddle.squeeze(static.nn.fc(h, 1), [1]) ** 2)


def _sampled(x: Any) -> Any:
    chosen = paddle.masked_select(x, x > 0.2)  # computed between compiled parts
    table = paddle.create_parameter([4, 3], "float32", default_initializer=paddle.nn.initializer.Constant(0.3))
    rows = paddle.nn.functional.embedding(paddle.argmax(x, axis=1) % 4, table)
    return paddle.sum(paddle.tanh(chosen) * paddle.mean(paddle.tanh(rows) * paddle.tanh(rows)))


def _blocks(x: Any) -> Any:
    """Loops in loops, branches, what goes through them as it is, and an array that is written in each round."""
    h = static.nn.fc(x, 6, activation="tanh")
    array = paddle.tensor.create_array("float32")

    def inner(m: Any, z: Any) -> list[Any]:
        return [m + 1, static.nn.cond(paddle.mean(z) > 0.0, lambda: paddle.tanh(z) * h, lambda: paddle.assign(z))]

    def outer(n: Any, y: Any) -> list[Any]:
        paddle.tensor.array_write(y, n, array)
        return [n + 1, static.nn.while_loop(lambda m, z: m < n, inner, [paddle.zeros([1], "int64"), y])[1]]

    start = paddle.zeros([1], "int64")
    paddle.tensor.array_write(h, start, array)
    y = static.nn.while_loop(lambda n, y: n < 3, outer, [start, h * h])[1]
    untaken = static.nn.cond(paddle.mean(y) > 1e9, lambda: paddle.exp(y), lambda: y)
    return paddle.mean(paddle.tensor.array_read(array, start + 1) * paddle.reshape(untaken, [4, 6]))


def _in_python(x: Any) -> Any:
    """A block that is not compiled."""

    def chosen(y: Any) -> Any:
        return paddle.mean(paddle.masked_select(y, y > 0.2)) * y

    return paddle.mean(static.nn.cond(paddle.mean(x) > 0.0, lambda: chosen(paddle.tanh(x)), lambda: x))


def _looped(x: Any) -> Any:
    y = static.nn.while_loop(
        lambda n, y: n < 2, lambda n, y: [n + 1, paddle.tanh(y)], [paddle.zeros([1], "int64"), x * x]
    )[1]
    return paddle.mean(y * 3)


pytestmark = pytest.mark.usefixtures("static_programs")


def told(build: Build, backend: str, leaving: Leaving | None = None) -> SavedStory:
    gradtool.set_backend(backend)
    values = np.random.default_rng(3).random((4, 6)).astype("float32")
    with static.program_guard(static.Program(), static.Program()), static.scope_guard(static.Scope()):
        paddle.seed(3)
        x = static.data("x", [4, 6])
        x.stop_gradient = False
        loss = build(x)
        static.Executor().run(static.default_startup_program())
        if leaving is None:
            return gradtool.saved(loss, {"x": values})
        with leaving:
            return gradtool.saved(loss, {"x": values})


def _lines(story: SavedStory) -> list[Any]:
    numbers = {b.number: n for n, b in enumerate(story.buffers)}
    return [
        (
            *(b.nbytes, b.shape, b.dtype, b.producer and b.producer.type, b.slot, [r.type for r in b.readers]),
            *(b.made, b.last, b.duplicate_of and numbers[b.duplicate_of], b.recompute, b.held),
        )
        for b in story.buffers
    ]


@pytest.mark.parametrize("build", [_dense, _image, _looped, _blocks])
def test_what_is_kept_is_what_numpy_keeps_and_stays_where_it_is(build: Build) -> None:
    leaving = Leaving()
    here, there = told(build, "jax", leaving), told(build, "numpy")
    assert _lines(here) == _lines(there)
    assert here.timeline == there.timeline
    assert here.recomputable == there.recomputable
    # 128 bits of arrays that may be the same, and how often blocks ran: of loops a row for each round, and each in it
    assert leaving.largest <= {_looped: 4 * FIRST_ROWS, _blocks: 9 * FIRST_ROWS**2}.get(build, 4)
    assert 4 * 6 not in leaving.sizes
    assert any(b.duplicate_of is not None for b in here.buffers) is (build in (_dense, _blocks))


@pytest.mark.parametrize("build", [_sampled, _in_python])
def test_what_is_computed_between_parts_counts(build: Build) -> None:
    here, there = told(build, "jax"), told(build, "numpy")
    kept = [{(b.nbytes, b.shape, b.dtype) for b in s.kept} for s in (here, there)]
    assert kept[0] == kept[1]
    assert (here.total, here.peak) == (there.total, there.peak)


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bool", "int8", "complex64", "complex128"])
def test_contents_differ_where_one_element_does(dtype: str) -> None:
    values = (np.arange(24).reshape(4, 6) % 2).astype(dtype)
    other, swapped = values.copy(), values[::-1].copy()
    other[2, 3] = 0
    same, *others = [contents(jax.numpy.asarray(v)) for v in (values, other, values[:, ::-1])]
    assert contents(values.copy()) == same
    assert same not in others
    assert contents(swapped) == same  # rows are alike
