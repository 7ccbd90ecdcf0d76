"""Random numbers on JAX: those of NumPy, drawn inside compiled functions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import jax
import numpy as np
import pytest

import gradtool
from gradtool import paddle
from gradtool.engine.core import state
from gradtool.engine.core.streams import Draws, Position, Stream
from gradtool.engine.executor.executor import Executor
from gradtool.engine.kernels.choice import backend
from gradtool.paddle import static

COUNT = 4099
BEFORE = Position(2**40 + 3, 11)

SAME: dict[str, Callable[[Draws], Any]] = {
    "words": lambda s: s.words(COUNT),
    "random": lambda s: s.random((COUNT,)),
    "no number": lambda s: s.random((0, 3)),
    "kept": lambda s: s.draw_mask((COUNT,), 0.3),
    "none kept": lambda s: s.draw_mask((COUNT,), 1.0),
    "integers": lambda s: s.integers(-(2**63), 2**63 - 1, (COUNT,)),
    "permutation": lambda s: s.permutation(COUNT),
}
NEAR: dict[str, Callable[[Draws], Any]] = {
    "uniform": lambda s: s.uniform(-0.3, 0.7, (COUNT,)),
    "normal": lambda s: s.normal(0.0, 0.02, (COUNT,)),
    "truncated_normal": lambda s: s.truncated_normal(-9.0, 2.0, (COUNT,)),
    "far": lambda s: s.truncated_normal(8.0, 9.0, (COUNT,)),
    "exponential": lambda s: s.exponential(2.0, (COUNT,)),
    "standard_cauchy": lambda s: s.standard_cauchy((COUNT,)),
}


@pytest.mark.parametrize("name", [*SAME, *NEAR])
def test_draws_are_numpys(name: str) -> None:
    from gradtool.engine.kernels.jax.streams import TracedStream, operands

    draw = {**SAME, **NEAR}[name]
    stream = Stream(*BEFORE)
    expected = draw(stream)

    def traced(seed: Any, counter: Any) -> tuple[Any, Any]:
        of_run = TracedStream(seed, counter)
        return draw(of_run), of_run.counter

    backend("jax")
    drawn, counter = jax.jit(traced)(*operands(BEFORE))
    assert (drawn.shape, drawn.dtype) == (expected.shape, expected.dtype)
    assert int(counter) == stream.position.counter
    if name in SAME:
        assert np.array_equal(drawn, expected)
    else:
        scale = np.maximum(np.abs(expected), np.median(np.abs(expected)))
        assert (np.abs(drawn - expected) <= 16 * np.spacing(scale)).all()


@pytest.fixture(autouse=True)
def _programs() -> Iterator[None]:
    paddle.enable_static()
    with static.program_guard(static.Program(), static.Program()), static.scope_guard(static.Scope()):
        yield
    paddle.disable_static()


def runs(fetch: list[Any], count: int = 2, seed: int = 5) -> dict[str, tuple[list[list[Any]], Position]]:
    """By backend, the results of some runs after each other, and where the stream is then."""
    sides = {}
    for name in ("numpy", "jax"):
        paddle.seed(seed)
        exe = Executor(backend=name)
        results = [exe.run(feed={}, fetch_list=fetch) for _ in range(count)]
        sides[name] = results, state.random.position
    return sides


def check(fetch: list[Any], count: int = 2) -> list[list[Any]]:
    """The results, which are the same on both backends, as is what comes after them."""
    (expected, after), (results, after_jax) = runs(fetch, count).values()
    for ours, theirs in zip(results, expected, strict=True):
        for a, b in zip(ours, theirs, strict=True):
            np.testing.assert_array_equal(a, b)
    assert after_jax == after
    return results


def splits() -> list[str]:
    program = static.default_main_program()
    made = [plan.compiled.splits() for plan in program.plans.values() if plan.compiled is not None]
    return [split.op.type for split in made[-1]]


def test_programs_draw_the_same_numbers_without_leaving_the_device() -> None:
    x = paddle.full([40, 30], 0.5)
    first, second = check(
        [
            paddle.randn([7, 5]),
            paddle.rand([7, 5]),
            paddle.randint(0, 9, [20]),
            paddle.randperm(33),
            paddle.bernoulli(x),
            paddle.nn.functional.dropout(x, 0.3),
            paddle.uniform([5], min=-2.0, max=3.0, seed=7),
            paddle.nn.functional.rrelu(paddle.full([9], -1.0), training=True),
            paddle.multinomial(x, 3),
            paddle.multinomial(x, 50, replacement=True),
        ]
    )
    assert splits() == []
    assert not np.array_equal(first[0], second[0])
    assert np.array_equal(first[6], second[6])  # it has a seed of its own


def test_what_is_drawn_until_something_holds_is_drawn_by_numpy_between_compiled_parts() -> None:
    mean = paddle.full([50], 3.0)
    check([paddle.rand([3]), paddle.poisson(mean), paddle.standard_gamma(mean), paddle.rand([3])])
    assert splits() == ["poisson", "standard_gamma"]


def test_a_seed_that_is_computed() -> None:
    block = static.default_main_program().global_block()
    x = paddle.ones([100])
    results = []
    for seed in (4, 0):
        given = paddle.full([1], seed, "int32") + paddle.zeros([1], "int32")
        out, mask = (
            block.create_var(name=f"{n}_{seed}", shape=[100], dtype=d) for n, d in (("o", x.dtype), ("m", "uint8"))
        )
        block.append_op("dropout", {"X": [x], "Seed": [given]}, {"Out": [out], "Mask": [mask]}, {"dropout_prob": 0.5})
        results.append(out)
    first, second = check(results)
    assert np.array_equal(first[0], second[0])
    assert not np.array_equal(first[1], second[1])


def test_a_program_with_a_seed_of_its_own() -> None:
    static.default_main_program().random_seed = 9
    first, second = check([paddle.randn([6])])
    assert np.array_equal(first[0], second[0])


def test_what_is_refused() -> None:
    x = static.data("x", [3])
    drawn = paddle.bernoulli(x)
    for name in ("numpy", "jax"):
        with pytest.raises(gradtool.engine.core.errors.LabelError, match=r"bernoulli: 1\.5 is no probability"):
            Executor(backend=name).run(feed={"x": np.array([0.5, 1.5, -1], "float32")}, fetch_list=[drawn])
