"""Writing to places of JAX's arrays, and indices that are not known while a program is compiled."""

from __future__ import annotations

from collections.abc import Iterator

import jax
import numpy as np
import pytest

from gradtool import paddle
from gradtool.engine.core.errors import LabelError
from gradtool.engine.executor.executor import Executor
from gradtool.engine.kernels.choice import backend
from gradtool.engine.ops.writing import add_at, add_to, combine, put, put_along, put_last
from gradtool.paddle import static

JAX = backend("jax")


@pytest.fixture(autouse=True)
def _programs() -> Iterator[None]:
    paddle.enable_static()
    with static.program_guard(static.Program(), static.Program()), static.scope_guard(static.Scope()):
        yield
    paddle.disable_static()


RNG = np.random.default_rng(3)


@pytest.mark.parametrize(
    "at",
    [
        slice(1, 4),
        (slice(None), slice(0, 6, 2)),
        (..., slice(1, None, 3), 2),
        (-1, slice(2)),
        (slice(4, 0, -2), 0),
        (slice(2, 2),),
        (slice(None), np.array([5, 0, 3])),
        2,
    ],
    ids=str,
)
def test_what_is_written_is_what_numpy_writes(at: object) -> None:
    array = RNG.normal(size=(5, 6, 4))
    values = RNG.normal(size=array[at].shape)  # type: ignore[index]
    for write in (put, add_to):
        here = jax.jit(lambda a, v, write=write: write(a, at, v))(array, values)
        np.testing.assert_array_equal(here, write(array.copy(), at, values))
    if not isinstance(at, tuple) or not any(isinstance(i, np.ndarray) for i in at):
        largest = jax.jit(lambda a, v: combine(JAX.xp.maximum, a, at, v))(array, values)
        np.testing.assert_array_equal(largest, combine(np.maximum, array.copy(), at, values))


def test_of_equal_places_the_last_wins_or_all_are_added() -> None:
    places = np.array([2, 0, 2, 2, 1]), np.array([1, 1, 1, 0, 3])
    array, values = np.zeros((3, 4)), np.arange(1.0, 6.0)
    for write in (put_last, add_at):
        here = jax.jit(lambda a, v, write=write: write(a, tuple(map(JAX.xp.asarray, places)), v))(array, values)
        np.testing.assert_array_equal(here, write(array.copy(), places, values))
    rows = np.array([[1, 0], [3, 2], [0, 3]])
    here = jax.jit(lambda a: put_along(a, rows, 7.0, 1))(array)
    np.testing.assert_array_equal(here, put_along(array.copy(), rows, 7.0, 1))


def test_a_mask_is_written_by_compiled_code() -> None:
    x, mask = static.data("x", [3, 2]), static.data("mask", [3], "bool")
    value = static.data("value", [2, 2])
    x.stop_gradient = value.stop_gradient = False
    out = paddle.index_put(x, [mask], value)
    slopes = static.gradients([paddle.sum(out * out * out)], [x, value])
    feed = {"x": RNG.normal(size=(3, 2)), "mask": np.array([True, False, True]), "value": RNG.normal(size=(2, 2))}
    feed = {n: v if v.dtype == bool else v.astype("float32") for n, v in feed.items()}
    found = []
    for name in ("numpy", "jax"):
        exe = Executor(backend=name)
        found.append(exe.run(feed=feed, fetch_list=[out, *slopes]))
        with pytest.raises(ValueError, match="shape mismatch") as caught:
            exe.run(feed={**feed, "mask": np.array([True, True, True])}, fetch_list=[out, *slopes])
        found[-1].append(str(caught.value).partition(" (inputs")[0])
    for a, b in zip(*found, strict=True):
        np.testing.assert_array_equal(a, b)
    assert list(static.default_main_program().plans.values())[-1].compiled.splits() == []


def test_a_scan_is_what_the_steps_give_one_by_one() -> None:
    def step(state, each):  # type: ignore[no-untyped-def]
        a, b = each
        state = state * a + b
        return state, (state, a)

    each = RNG.normal(size=(7, 3)), RNG.normal(size=(7, 3))
    for reverse in (False, True):
        expected = backend("numpy").scan(step, np.ones(3), each, reverse)
        here = jax.jit(lambda a, b, reverse=reverse: JAX.scan(step, JAX.xp.ones(3), (a, b), reverse))(*each)
        for a, b in zip(jax.tree_util.tree_leaves(expected), jax.tree_util.tree_leaves(here), strict=True):
            np.testing.assert_allclose(b, a, rtol=1e-14)


def test_one_row_by_a_computed_number_is_compiled() -> None:
    x, i = static.data("x", [4, 3]), static.data("i", [1], "int64")
    x.stop_gradient = False
    row = x[i + 1]
    (dx,) = static.gradients([paddle.sum(row * row)], [x])
    feed = {"x": np.arange(12, dtype="float32").reshape(4, 3), "i": np.array([1])}
    found = []
    for name in ("numpy", "jax"):
        exe = Executor(backend=name)
        found.append(exe.run(feed=feed, fetch_list=[row, dx]))
        with pytest.raises(LabelError) as caught:
            exe.run(feed={**feed, "i": np.array([3])}, fetch_list=[row, dx])
        found[-1].append(str(caught.value).splitlines()[0])
    for a, b in zip(*found, strict=True):
        np.testing.assert_array_equal(a, b)
    assert list(static.default_main_program().plans.values())[-1].compiled.splits() == []
