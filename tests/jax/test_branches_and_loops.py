"""Branches, loops and their gradients on JAX: compiled whole where shapes are fixed, and else run as on NumPy."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import jax
import numpy as np
import pytest

from gradtool import paddle
from gradtool.engine.core import state
from gradtool.engine.core.errors import ExecutionError, LabelError
from gradtool.engine.executor.executor import Executor
from gradtool.paddle import static

X = np.random.default_rng(4).normal(size=(3, 4)).astype("float32")


@pytest.fixture(autouse=True)
def _programs() -> Iterator[None]:
    paddle.enable_static()
    with static.program_guard(static.Program(), static.Program()), static.scope_guard(static.Scope()):
        yield
    paddle.disable_static()


def weight() -> Any:
    return static.create_parameter([4, 4], "float32", name="w")


def loop(x: Any) -> Any:
    w = weight()

    def step(i: Any, h: Any) -> Any:
        return i + 1, paddle.tanh(paddle.matmul(h, w)) + 0.1 * h

    _, h = static.nn.while_loop(lambda i, h: i < 5, step, [paddle.zeros([1], "int64"), x])
    return h


def loop_as_long_as_values_say(x: Any) -> Any:
    w = weight()
    h = static.nn.while_loop(lambda h: paddle.sum(h * h) < 40.0, lambda h: [1.5 * h + 0.1 * paddle.matmul(h, w)], [x])
    return h[0]


def branch(x: Any) -> Any:
    w = weight()
    return static.nn.cond(
        paddle.sum(x) > 0, lambda: paddle.tanh(paddle.matmul(x, w)), lambda: paddle.exp(paddle.matmul(x, w) * 0.1)
    )


def branches_in_a_loop(x: Any) -> Any:
    w = weight()

    def step(i: Any, h: Any) -> Any:
        h = static.nn.cond(i % 2 == 0, lambda: paddle.matmul(h, w), lambda: paddle.sin(h) * 2.0)
        return i + 1, h

    return static.nn.while_loop(lambda i, h: i < 4, step, [paddle.zeros([1], "int64"), x])[1]


def draws_in_a_loop(x: Any) -> Any:
    w = weight()

    def step(i: Any, h: Any) -> Any:
        h = paddle.nn.functional.dropout(paddle.matmul(h, w), 0.4) + 0.01 * paddle.randn([3, 4])
        return i + 1, h

    return static.nn.while_loop(lambda i, h: i < 3, step, [paddle.zeros([1], "int64"), x])[1]


def a_loop_in_a_branch_in_a_loop(x: Any) -> Any:
    w = weight()

    def times(i: Any, h: Any) -> Any:
        rounds = static.nn.while_loop(
            lambda j, h: j < i, lambda j, h: [j + 1, paddle.sin(h) + paddle.matmul(h, w)], [i * 0, h]
        )
        return rounds[1]

    def step(i: Any, h: Any) -> Any:
        return i + 1, static.nn.case([(i == 1, lambda: h * 0.5), (i == 2, lambda: times(i, h))], lambda: h + 0.1)

    return static.nn.while_loop(lambda i, h: i < 4, step, [paddle.zeros([1], "int64"), x])[1]


def written_in_a_loop(x: Any) -> Any:
    """Forty places, of which each round reads one and writes the next; and what there is, as one tensor."""
    w = weight()
    first, places = paddle.zeros([1], "int64"), paddle.full([1], 40, "int64")
    array = paddle.tensor.array_write(x, first)

    def step(i: Any, array: Any) -> Any:
        h = paddle.tanh(paddle.matmul(paddle.tensor.array_read(array, i), w))
        return i + 1, paddle.tensor.array_write(h, i + 1, array)

    _, array = static.nn.while_loop(lambda i, _: i < places, step, [first, array])
    return paddle.concat(array) * 0.5 + paddle.tensor.array_read(array, places - 38).sum()


def begun_empty_and_written_twice(x: Any) -> Any:
    w = weight()
    first, places = paddle.zeros([1], "int64"), paddle.full([1], 3, "int64")
    array = paddle.tensor.create_array("float32")

    def step(i: Any, h: Any, array: Any) -> Any:
        array = paddle.tensor.array_write(h, i, array)
        array = paddle.tensor.array_write(paddle.matmul(h, w), i, array)
        h = static.nn.cond(i > 0, lambda: paddle.tensor.array_read(array, i - 1), lambda: h * 0.5)
        return i + 1, paddle.sin(h) + paddle.tensor.array_length(array).astype("float32"), array

    _, h, array = static.nn.while_loop(lambda i, h, _: i < places, step, [first, x, array])
    return h + paddle.tensor.array_read(array, first + 1)


def more_rounds_than_expected(x: Any) -> Any:
    w = weight()
    rounds = static.nn.while_loop(
        lambda i, h: i < 20 + 30 * (paddle.sum(x) > 0).astype("int64"),
        lambda i, h: [i + 1, paddle.tanh(h + 0.1 * paddle.matmul(h, w))],
        [paddle.zeros([1], "int64"), x],
    )
    return rounds[1]


def undefined_in_the_other_branch(x: Any) -> Any:
    w = weight()
    branches = [(paddle.sum(x) < -1e9, lambda: paddle.sqrt(-paddle.abs(x) - 1.0)), (paddle.sum(x) > 0, lambda: x * 2.0)]
    return paddle.matmul(static.nn.case(branches, lambda: paddle.log(paddle.abs(x))), w)


def draws_in_a_branch(x: Any) -> Any:
    w = weight()
    drawn = static.nn.cond(
        paddle.sum(x) > 0, lambda: paddle.matmul(x, w) * paddle.rand([3, 4]), lambda: paddle.matmul(x, w)
    )
    return drawn + paddle.rand([3, 4])


NETS: dict[str, Callable[[Any], Any]] = {
    f.__name__: f
    for f in (
        loop,
        loop_as_long_as_values_say,
        branch,
        branches_in_a_loop,
        a_loop_in_a_branch_in_a_loop,
        more_rounds_than_expected,
        written_in_a_loop,
        begun_empty_and_written_twice,
        undefined_in_the_other_branch,
        draws_in_a_loop,
        draws_in_a_branch,
    )
}


@pytest.mark.parametrize("name", NETS)
def test_values_gradients_and_draws_are_those_of_numpy(name: str) -> None:
    x = static.data("x", [3, 4])
    x.stop_gradient = False
    out = NETS[name](x)
    loss = paddle.mean(out * out)
    gradients = static.gradients([loss], [x, static.default_main_program().global_block().var("w")])
    sides = []
    for backend in ("numpy", "jax"):
        with static.scope_guard(static.Scope()):
            paddle.seed(7)
            exe = Executor(backend=backend)
            exe.run(static.default_startup_program())
            results = [exe.run(feed={"x": sign * X}, fetch_list=[out, loss, *gradients]) for sign in (1, -1, 1)]
            sides.append((results, state.random.position))
    (expected, position), (results, position_of_jax) = sides
    for ours, theirs in zip(results, expected, strict=True):
        for a, b in zip(ours, theirs, strict=True):
            np.testing.assert_allclose(a, b, rtol=2e-5, atol=1e-6)
            assert np.isfinite(a).all()
    assert position_of_jax == position
    assert splits() == []


def test_gradients_of_gradients_go_through_compiled_loops_and_branches() -> None:
    x = static.data("x", [3, 4])
    x.stop_gradient = False
    out = branches_in_a_loop(x)
    (first,) = static.gradients([paddle.mean(out * out)], [x])
    w = static.default_main_program().global_block().var("w")
    second = static.gradients([paddle.sum(first * first)], [x, w])
    sides = []
    for backend in ("numpy", "jax"):
        exe = Executor(backend=backend)
        exe.run(static.default_startup_program()) if not sides else None
        sides.append(exe.run(feed={"x": X}, fetch_list=[first, *second]))
    for a, b in zip(*sides, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-6)
    assert splits() == []


def test_no_value_leaves_the_device_while_a_loop_and_its_gradient_run() -> None:
    x = static.data("x", [3, 4])
    x.stop_gradient = False
    out = branches_in_a_loop(x)
    gradients = static.gradients([paddle.mean(out * out)], [x])
    exe = Executor(backend="jax")
    exe.run(static.default_startup_program())
    fed = jax.device_put(X)
    exe.run(feed={"x": fed}, fetch_list=[out, *gradients])
    with jax.transfer_guard("disallow"):
        fetched = exe.run(feed={"x": fed}, fetch_list=[out, *gradients], return_numpy=False)
    assert all(isinstance(handle.value, jax.Array) for handle in fetched)
    assert splits() == []


def test_only_the_branch_that_is_taken_refuses() -> None:
    table = static.create_parameter([5, 2], "float32", name="table")
    number = static.data("number", [1], "int64")

    def row() -> Any:
        return paddle.sum(paddle.nn.functional.embedding(number, table))

    total = static.nn.cond(paddle.sum(number) < 9, row, lambda: paddle.sum(table))
    (gradient,) = static.gradients([total], [table])
    told = []
    for backend in ("numpy", "jax"):
        exe = Executor(backend=backend)
        exe.run(static.default_startup_program())
        assert exe.run(feed={"number": np.array([9])}, fetch_list=[gradient])[0].sum() == 10
        with pytest.raises(LabelError, match="id 7 is outside the table of 5 rows") as caught:
            exe.run(feed={"number": np.array([7])}, fetch_list=[total])
        told.append(str(caught.value))
    assert told[0] == told[1]
    assert splits() == []


def test_a_training_goes_on_from_its_parameters_where_a_loop_needs_more_room() -> None:
    loss = paddle.mean(paddle.nn.functional.dropout(more_rounds_than_expected(static.data("x", [3, 4])), 0.3) ** 2)
    paddle.optimizer.Adam(0.01).minimize(loss)
    sides = []
    for backend in ("numpy", "jax"):
        with static.scope_guard(static.Scope()):
            paddle.seed(7)
            exe = Executor(backend=backend)
            exe.run(static.default_startup_program())
            losses = [exe.run(feed={"x": sign * X}, fetch_list=[loss])[0] for sign in (-1, 1, 1)]
            sides.append((losses, np.array(static.global_scope().find_var("w").get_tensor())))
    np.testing.assert_allclose(sides[0][0], sides[1][0], rtol=1e-5)
    np.testing.assert_allclose(sides[0][1], sides[1][1], rtol=1e-4, atol=1e-6)
    assert splits() == []


def test_a_place_of_an_array_that_nothing_was_written_to_is_refused() -> None:
    x, begin = static.data("x", [3, 4]), static.data("begin", [1], "int64")
    array = paddle.tensor.array_write(x, paddle.full([1], 2, "int64"))
    rounds = static.nn.while_loop(
        lambda i, h: i < 5, lambda i, h: [i + 1, h + paddle.tensor.array_read(array, i)], [begin, x]
    )
    for number, message in ((1, "nothing was written"), (2, "it has 3 places"), (-1, "but it is -1")):
        told = []
        for backend in ("numpy", "jax"):
            with pytest.raises(ExecutionError, match=message) as caught:
                Executor(backend=backend).run(feed={"x": X, "begin": np.array([number])}, fetch_list=rounds)
            told.append(str(caught.value))
        assert told[0] == told[1]
    assert splits() == []


def tensors_of_several_shapes(x: Any) -> Any:
    first, w = paddle.zeros([1], "int64"), weight()
    array = paddle.tensor.array_write(x, first)

    def step(i: Any, array: Any) -> Any:
        longer = paddle.concat([paddle.tensor.array_read(array, i), paddle.matmul(x, w)])
        return i + 1, paddle.tensor.array_write(longer, i + 1, array)

    _, array = static.nn.while_loop(lambda i, _: i < 3, step, [first, array])
    return paddle.concat(array)


def prints_in_a_loop(x: Any) -> Any:
    w = weight()

    def step(i: Any, h: Any) -> Any:
        h = static.nn.cond(i % 2 == 0, lambda: paddle.matmul(h, w), lambda: paddle.sin(h) * 2.0)
        static.Print(h, message="round", summarize=1)
        return i + 1, h

    return static.nn.while_loop(lambda i, h: i < 3, step, [paddle.zeros([1], "int64"), x])[1]


def branches_of_other_shapes(x: Any) -> Any:
    w = weight()
    return static.nn.cond(paddle.sum(x) > 0, lambda: paddle.matmul(x, w), lambda: paddle.concat([x, x]))


@pytest.mark.parametrize(
    ("net", "hosted"),
    [
        (prints_in_a_loop, ["while", "while_grad"]),
        (tensors_of_several_shapes, ["while", "while_grad"]),
        (branches_of_other_shapes, ["select_input", "conditional_block_grad", "conditional_block_grad"]),
    ],
    ids=lambda net: getattr(net, "__name__", ""),
)
def test_what_cannot_be_compiled_runs_as_values_say(net: Callable[[Any], Any], hosted: list[str]) -> None:
    x = static.data("x", [3, 4])
    x.stop_gradient = False
    out = net(x)
    gradients = static.gradients([paddle.sum(out * out)], [x])
    sides = []
    for backend in ("numpy", "jax"):
        exe = Executor(backend=backend)
        exe.run(static.default_startup_program()) if not sides else None
        sides.append([exe.run(feed={"x": sign * X}, fetch_list=[out, *gradients]) for sign in (1, -1)])
    for ours, theirs in zip(*sides, strict=True):
        for a, b in zip(ours, theirs, strict=True):
            np.testing.assert_allclose(a, b, rtol=2e-5, atol=1e-6)
    assert splits() == hosted


def test_what_is_refused_in_a_loop_is_told_with_its_operator() -> None:
    table = static.create_parameter([5, 2], "float32", name="table")
    number = static.data("number", [1], "int64")

    def step(i: Any, total: Any) -> Any:
        return i + 1, total + paddle.sum(paddle.nn.functional.embedding(i, table))

    _, total = static.nn.while_loop(lambda i, total: i < 9, step, [number, paddle.zeros([])])
    told = []
    for backend in ("numpy", "jax"):
        exe = Executor(backend=backend)
        exe.run(static.default_startup_program())
        with pytest.raises(LabelError, match="id 5 is outside the table of 5 rows") as caught:
            exe.run(feed={"number": np.array([3])}, fetch_list=[total])
        told.append(str(caught.value))
    assert told[0] == told[1]
    assert "lookup_table" in told[0]


def splits() -> list[str]:
    made = [p.compiled.splits() for p in static.default_main_program().plans.values() if p.compiled is not None]
    return [split.op.type for split in made[-1]]


PLAIN: dict[str, tuple[Callable[[Any], Any], list[str]]] = {
    "loop": (loop, []),
    "loop_as_long_as_values_say": (loop_as_long_as_values_say, []),
    "draws_in_a_loop": (lambda x: draws_in_a_loop(x) + paddle.rand([3, 4]), []),
    "branches_in_a_loop": (branches_in_a_loop, []),
    "a loop in a loop": (
        lambda x: static.nn.while_loop(
            lambda i, h: i < 3,
            lambda i, h: [
                i + 1,
                static.nn.while_loop(lambda h: paddle.max(h) < 2.0 ** i.astype("float32"), lambda h: [h + 0.7], [h])[0],
            ],
            [paddle.zeros([1], "int64"), x],
        )[1],
        [],
    ),
    "no round": (lambda x: static.nn.while_loop(lambda h: paddle.sum(h) > 1e9, lambda h: [h * 2.0], [x])[0], []),
    "a growing value": (
        lambda x: static.nn.while_loop(
            lambda i, h: i < 3,
            lambda i, h: [i + 1, paddle.concat([h, x])],
            [paddle.zeros([1], "int64"), static.data("wide", [-1, 4])],
        )[1],
        ["while"],
    ),
}


@pytest.mark.parametrize("name", PLAIN)
def test_loops_without_gradients_are_compiled_where_their_values_keep_their_shapes(name: str) -> None:
    net, expected_splits = PLAIN[name]
    out = net(static.data("x", [3, 4]))
    sides = []
    for backend in ("numpy", "jax"):
        with static.scope_guard(static.Scope()):
            paddle.seed(7)
            exe = Executor(backend=backend)
            exe.run(static.default_startup_program())
            feeds = [{"x": sign * X, "wide": X} for sign in (1, -1)]
            sides.append(([exe.run(feed=f, fetch_list=[out])[0] for f in feeds], state.random.position))
    (expected, position), (results, position_of_jax) = sides
    for ours, theirs in zip(results, expected, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=2e-5, atol=1e-6)
    assert position_of_jax == position
    assert splits() == expected_splits
