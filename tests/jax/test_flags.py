"""Whether something is wrong anywhere: the disjunctions that compiled functions return, element by element."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest

from gradtool import paddle
from gradtool.engine.core import state
from gradtool.engine.kernels.choice import backend
from gradtool.engine.kernels.jax.finite_checks import _Verdicts
from gradtool.engine.kernels.jax.flags import any_of, first
from gradtool.paddle import static

backend("jax")  # which lets JAX have 64 bits

SHAPES = [(1,), (), (7,), (33, 5), (128, 128), (3, 16385)]
"""Of one element, of odd sizes, and larger than what XLA reduces at once."""


def places(size: int) -> list[int]:
    """The first element, one in the middle and the last."""
    return sorted({0, size // 2, size - 1})


@pytest.mark.parametrize("shape", SHAPES)
def test_a_bool_is_seen_wherever_it_stands(shape: tuple[int, ...]) -> None:
    others = np.zeros((5, 3), bool), np.zeros((0, 4), bool), np.zeros((5, 33), bool)
    asked = jax.jit(lambda a: any_of([others[0], a, others[1], a, others[2]]))
    array = np.zeros(shape, bool)
    assert not asked(array)
    for place in places(array.size):
        array.reshape(-1)[place] = True
        assert asked(array), place
        array.reshape(-1)[place] = False


def test_no_elements_hold_nothing() -> None:
    assert not jax.jit(lambda a: any_of([a]))(np.zeros((0, 3), bool))
    assert not jax.jit(lambda: any_of([]))()


def test_the_first_flag_is_read() -> None:
    assert [first(jnp.asarray(flags)) for flags in ([False, False], [False, True], [True, True])] == [-1, 1, 0]


TYPES = [np.float16, ml_dtypes.bfloat16, np.float32, np.float64, np.complex64, np.complex128]


@pytest.mark.parametrize("dtype", TYPES, ids=lambda t: np.dtype(t).name)
def test_what_is_not_finite_is_wrong_and_nothing_else(dtype: Any) -> None:
    most = ml_dtypes.finfo(dtype).max if np.dtype(dtype).kind != "c" else np.finfo(dtype).max
    least = -most
    for shape in [(5,), (128, 129)]:
        usual = np.ones(shape, dtype)
        verdict = jax.jit(lambda a, b: _any([a * 1, b, a - a], None))
        huge = np.full(shape, most, dtype)  # finite, though no sum of them is
        huge.reshape(-1)[::2] = least
        assert not verdict(usual, huge)
        for bad in (np.inf, -np.inf, np.nan):
            for place in places(usual.size):
                array = huge.copy()
                array.reshape(-1)[place] = bad
                assert verdict(usual, array), (bad, place)
    if np.dtype(dtype).kind == "c":
        assert verdict(usual, np.full(shape, complex(1, np.nan), dtype))


def test_what_is_too_large_is_wrong() -> None:
    verdict = jax.jit(lambda a: _any([a], 100.0))
    for shape in [(5,), (128, 129)]:
        for place in places(int(np.prod(shape))):
            for value, wrong in [(100.0, False), (-100.0, False), (101.0, True), (-101.0, True), (np.nan, True)]:
                array = np.ones(shape, "float32")
                array.reshape(-1)[place] = value
                assert bool(verdict(array)) is wrong, (value, place)


def _any(values: Sequence[Any], largest: float | None) -> Any:
    verdicts = _Verdicts(largest)
    for value in values:
        verdicts.add([value])
    return verdicts.any()


@pytest.mark.parametrize(("bad", "told"), [((1,), 1), ((2,), 2), ((2, 0), 0)])
def test_the_first_operator_that_refuses_is_told(bad: tuple[int, ...], told: int) -> None:
    main, startup = static.Program(), static.Program()
    with state.static_mode(), static.program_guard(main, startup):
        ids = [static.data(f"i{n}", [4, n + 1], "int64") for n in range(3)]
        tables = [paddle.create_parameter([10 + n, 2], "float32", name=f"t{n}") for n in range(3)]
        rows = [paddle.nn.functional.embedding(i, t) for i, t in zip(ids, tables, strict=True)]
    exe, scope = static.Executor(backend="jax"), static.Scope()
    exe.run(startup, scope=scope)
    feed = {f"i{n}": np.zeros((4, n + 1), "int64") for n in range(3)}
    exe.run(main, feed=feed, fetch_list=rows, scope=scope)
    for n in bad:
        feed[f"i{n}"][-1, -1] = 50 + n
    with pytest.raises(ValueError, match=str(50 + told)):
        exe.run(main, feed=feed, fetch_list=rows, scope=scope)
