"""Arrays of tensors in programs, in branches and loops too: programs against plain Python, whose arrays are lists."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from gradtool import paddle
from gradtool.engine.core.errors import ArgumentTypeError, ExecutionError, FeedError, UsageError
from gradtool.engine.ir.arrays import ArrayOperandError
from gradtool.engine.ir.from_json import from_json
from gradtool.engine.ir.to_json import to_json
from gradtool.paddle.static.nn import cond, while_loop
from gradtool.paddle.static.nn.control_flow import While
from gradtool.paddle.tensor import array_length, array_read, array_write, create_array
from tests.control.both import check, parameters

XW = parameters(x=(2, 3), w=(3, 3))


def at(place: int) -> Any:
    return paddle.full([1], place, "int64")


def end(array: Any) -> Any:
    return at(len(array)) if isinstance(array, list) else array_length(array)


def several_writes(x: Any, w: Any) -> Any:
    array = create_array("float64", [x, x @ w])
    array = array_write(paddle.tanh(x), at(2), array)
    return (array_read(array, at(0)) * array_read(array, at(2))).sum() + array_read(array, at(1)).square().sum()


def a_place_written_twice(x: Any, w: Any) -> Any:
    array = array_write(x * x, at(0))
    before = array_read(array, at(0))
    array = array_write(x @ w, at(0), array)
    return (before * 3).sum() + array_read(array, at(0)).square().sum()


def an_index_counted_in_place(x: Any, w: Any) -> Any:
    i = at(0)
    array = array_write(x @ w, i)
    paddle.increment(i)
    array = array_write(paddle.tanh(x), i, array)
    return (array_read(array, at(0)) * array_read(array, i)).sum()


def joined_along_an_axis(x: Any, w: Any) -> Any:
    array = create_array("float64", [x, x @ w, x * 2])
    return paddle.stack(array, axis=1).square().sum() + (paddle.concat(array, axis=-1)[:, 2:7] * x[0, 0]).sum()


def carried_by_a_loop(x: Any, w: Any) -> Any:
    i, n, h = at(0), at(3), paddle.tanh(x)
    array = array_write(h, i)

    def body(i: Any, h: Any, array: Any) -> Any:
        h = paddle.tanh(h @ w)
        i = i + 1
        return i, h, array_write(h, i, array)

    i, h, array = while_loop(lambda i, h, array: i < n, body, [i, h, array])
    return (array_read(array, at(2)) * array_read(array, at(0))).sum() + array_read(array, at(3)).square().sum()


def read_and_filled_by_a_loop(x: Any, w: Any) -> Any:
    given, made = create_array("float64", [x * (k + 1) for k in range(3)]), create_array("float64")
    i, n, s = at(0), at(3), x * 0.5

    def body(i: Any, s: Any) -> Any:
        v = array_read(given, i)
        s = paddle.tanh((s + v) @ w)
        array_write(s * v, i, made)
        return i + 1, s

    i, s = while_loop(lambda i, s: i < n, body, [i, s])
    return paddle.stack(made, axis=0).square().sum() + paddle.concat(given, axis=1).sum() * s.sum()


def one_place_again_and_again(x: Any, w: Any) -> Any:
    array = array_write(x, at(0))

    def body(i: Any) -> Any:
        array_write(paddle.tanh(array_read(array, at(0)) @ w), at(0), array)
        return [i + 1]

    while_loop(lambda i: i < at(3), body, [at(0)])
    return array_read(array, at(0)).square().sum()


def a_loop_that_is_not_entered(x: Any, w: Any) -> Any:
    array = array_write(x @ w, at(0))

    def body(i: Any, array: Any) -> Any:
        return i + 1, array_write(x * 7, at(0), array)

    _, array = while_loop(lambda i, array: i < at(0), body, [at(0), array])
    return array_read(array, at(0)).square().sum()


def written_by_branches(x: Any, w: Any) -> Any:
    array = array_write(x, at(0))

    def more() -> Any:
        array_write(x @ w, end(array), array)
        return x * 2

    def again() -> Any:
        array_write(x * 5, at(0), array)
        return x * 3

    one = cond(w.sum() < 1e9, more, again)
    other = cond(w.sum() > 1e9, more, again)
    return (array_read(array, at(0)) * array_read(array, at(1))).sum() + (one * other).sum()


def loops_in_loops(x: Any, w: Any) -> Any:
    array = create_array("float64")

    def body(i: Any, s: Any) -> Any:
        own = array_write(s, at(0))

        def inner(j: Any, s: Any) -> Any:
            s = paddle.tanh(s @ w + array_read(own, at(0)))
            array_write(s, j + 1, own)
            array_write(s * 2, i * 2 + j, array)
            return j + 1, s

        _, s = while_loop(lambda j, s: j < at(2), inner, [at(0), s])
        return i + 1, s + array_read(own, at(1))

    _, s = while_loop(lambda i, s: i < at(2), body, [at(0), x * 1.0])
    return paddle.stack(array, axis=0).square().sum() + s.sum()


def written_in_each_iteration_and_by_a_branch(x: Any, w: Any) -> Any:
    array = create_array("float64")

    def body(i: Any, s: Any) -> Any:
        s = paddle.tanh(s @ w)
        array_write(s * x, end(array), array)

        def more() -> Any:
            array_write(s + x, end(array), array)
            return s * 2

        return i + 1, cond(i < at(2), more, lambda: s)

    _, s = while_loop(lambda i, s: i < at(3), body, [at(0), x * 1.0])
    return paddle.stack(array, axis=0).square().sum() + s.sum()


def read_then_written_in_an_iteration(x: Any, w: Any) -> Any:
    array = array_write(x * 1.0, at(0))

    def body(i: Any) -> Any:
        h = array_read(array, i)
        array_write(paddle.tanh(h @ w) + x, end(array), array)

        def more() -> Any:
            array_write(array_read(array, end(array) - 1) * x, end(array), array)
            return x * 2

        cond(i < at(1), more, lambda: x * 3)
        return i + 1

    while_loop(lambda i: i < at(3), body, [at(0)])
    return paddle.stack(array, axis=0).square().sum()


def written_by_a_branch_and_then_in_each_iteration(x: Any, w: Any) -> Any:
    array = array_write(x @ w, at(0))

    def body(i: Any) -> Any:
        def more() -> Any:
            array_write(x * 5, end(array), array)
            return x * 2

        one = cond(i > at(0), more, lambda: x * 3)
        array_write(one @ w, end(array), array)
        array_write(array_read(array, at(0)) * one, at(0), array)
        return i + 1

    while_loop(lambda i: i < at(3), body, [at(0)])
    return paddle.stack(array, axis=0).square().sum()


MODELS = [
    written_in_each_iteration_and_by_a_branch,
    read_then_written_in_an_iteration,
    written_by_a_branch_and_then_in_each_iteration,
    several_writes,
    a_place_written_twice,
    an_index_counted_in_place,
    joined_along_an_axis,
    carried_by_a_loop,
    read_and_filled_by_a_loop,
    one_place_again_and_again,
    a_loop_that_is_not_entered,
    written_by_branches,
    loops_in_loops,
]


@pytest.mark.sampled(3, "model")
@pytest.mark.parametrize("order", [1, 2, 3])
@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)
def test_programs_equal_plain_python(model: Callable[..., Any], order: int) -> None:
    built = check(model, XW, order)
    if order == 1:
        read = from_json(to_json(built.main))
        for a, b in zip(built.run(read), built.run(), strict=True):
            assert np.array_equal(a, b)
        assert str(read.clone()) == str(built.main.clone())


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "complex64"])
def test_tensors_of_rare_types(dtype: str) -> None:
    values = {n: v.astype("float32") for n, v in XW.items()}

    def model(x: Any, w: Any) -> Any:
        x, w = paddle.cast(x, dtype), paddle.cast(w, dtype)
        array = create_array(dtype, [x, x @ w, x])
        array = array_write(x * x, at(3), array)
        total = (paddle.stack(array, 0) * array_read(array, at(2))).sum()
        return paddle.cast(total.real() if dtype == "complex64" else total, "float32")

    from tests.control.both import Static, dynamic

    for ours, expected in zip(Static(model, values).run(), dynamic(model, values), strict=True):
        np.testing.assert_allclose(ours, expected, rtol=3e-2, atol=2e-2)


@pytest.fixture
def program() -> Iterator[Any]:
    paddle.enable_static()
    with paddle.static.program_guard(paddle.static.Program(), paddle.static.Program()):
        yield paddle.static.default_main_program()
    paddle.disable_static()


def run(*fetched: Any, **fed: Any) -> list[Any]:
    return paddle.static.Executor().run(feed=fed, fetch_list=list(fetched))


class TestTheOldLoop:
    def test_its_body_writes_in_place(self, program: Any) -> None:
        x = paddle.static.data("x", [2, 3], "float64")
        x.stop_gradient = False
        w = paddle.static.data("w", [3, 3], "float64")
        w.stop_gradient = False
        i, n = at(0), at(3)
        array = array_write(paddle.tanh(x), i)
        going = paddle.less_than(i, n)
        with While(going).block():
            h = paddle.tanh(array_read(array, i) @ w)
            paddle.increment(i)
            array_write(h, i, array)
            paddle.assign(paddle.less_than(i, n), going)
        loss = (array_read(array, at(3)) * array_read(array, at(1))).sum()
        gradients = paddle.static.gradients(loss, [x, w])
        ours = run(loss, *gradients, array_length(array), **XW)
        paddle.disable_static()
        x, w = (paddle.to_tensor(v, stop_gradient=False) for v in XW.values())
        states = [paddle.tanh(x)]
        for _ in range(3):
            states.append(paddle.tanh(states[-1] @ w))
        loss = (states[3] * states[1]).sum()
        expected = [loss.numpy(), *(g.numpy() for g in paddle.grad(loss, [x, w])), [4]]
        for a, b in zip(ours, expected, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-12)

    def test_a_body_that_never_writes_the_condition(self, program: Any) -> None:
        going = paddle.less_than(at(0), at(3))
        before = str(program)
        with pytest.raises(UsageError, match=f"never writes '{going.name}'"), While(going).block():
            paddle.increment(at(0))
        assert str(program) == before

    def test_a_condition_of_another_kind(self, program: Any) -> None:
        with pytest.raises(TypeError, match="bool"):
            While(at(0))
        with pytest.raises(TypeError, match=r"shape as \[1\]"):
            While(paddle.zeros([2], "bool"))


class TestPrograms:
    def test_names_and_text_are_those_of_paddle(self, program: Any) -> None:
        x = paddle.static.data("x", [2, 3])
        array = create_array("float32", [x])
        other = array_write(x, at(0))
        assert [array.name, other.name] == ["array_0.out", "array_write_1.out"]
        assert [array_length(array).name, array_read(array, at(0)).name] == [
            "array_length_1.tmp_0",
            "array_read_0.tmp_0",
        ]
        assert repr(array) == "var array_0.out : DENSE_TENSOR_ARRAY)"
        write, read = (next(o for o in program.global_block().ops if o.type.startswith(t)) for t in ("write", "read"))
        assert "inputs={I=['array_length_0.tmp_0'], X=['x']}" in str(write)
        assert "inputs={I=['fill_constant_3.tmp_0'], X=['array_0.out'], X_W=[]}" in str(read)

    def test_new_places_need_no_operator_in_the_backward_part(self, program: Any) -> None:
        x = paddle.static.data("x", [2, 3])
        x.stop_gradient = False
        array = array_write(x * 2, at(0))
        array_write(paddle.tanh(x), at(1), array)
        array_write(paddle.exp(x), array_length(array), array)
        loss = paddle.stack(array).sum()
        paddle.static.append_backward(loss)
        types = [o.type for o in program.global_block().ops]
        assert types.count("read_from_array") == 3
        assert "array_without" not in types
        array_write(x, at(1), array)
        paddle.static.gradients(array_read(array, at(0)).sum(), x)
        assert "array_without" in [o.type for o in program.global_block().ops]

    def test_an_array_is_fetched_as_a_list(self, program: Any) -> None:
        x = paddle.static.data("x", [2])
        array = array_write(x, at(0))
        array_write(x * 2, at(2), array)
        (listed,) = run(array, x=np.ones(2, "float32"))
        assert [None if v is None else v.tolist() for v in listed] == [[1, 1], None, [2, 2]]
        handles = paddle.static.Executor().run(
            feed={"x": np.ones(2, "float32")}, fetch_list=[array], return_numpy=False
        )
        assert np.array(handles[0][2]).tolist() == [2, 2]

    def test_by_append_op(self, program: Any) -> None:
        block, x = program.global_block(), paddle.static.data("x", [2])
        array = block.create_var(name="a", type=paddle.base.core.VarDesc.VarType.DENSE_TENSOR_ARRAY)
        out, index = block.create_var(name="out"), block.create_var(name="index")
        for place in (0, 1):
            block.append_op(type="write_to_array", inputs={"X": x, "I": at(place)}, outputs={"Out": array})
        block.append_op(
            type="tensor_array_to_tensor",
            inputs={"X": array},
            outputs={"Out": out, "OutIndex": index},
            attrs={"axis": 0, "use_stack": False},
        )
        joined, lengths = run(out, index, x=np.arange(2, dtype="float32"))
        assert (joined.tolist(), lengths.tolist()) == ([0, 1, 0, 1], [2, 2])
        with pytest.raises(ArrayOperandError, match="'x' is DENSE_TENSOR"):
            block.append_op(type="write_to_array", inputs={"X": out, "I": at(0)}, outputs={"Out": x})

    def test_what_is_written_and_never_read_is_left_out_of_what_is_saved(self, program: Any, tmp_path: Any) -> None:
        x = paddle.static.data("x", [2, 2])
        array = create_array("float32", [x, x * 2])
        y = paddle.stack(array).sum()
        exe = paddle.static.Executor()
        paddle.static.save_inference_model(str(tmp_path / "m"), [x], [y], exe)
        read, _, fetched = paddle.static.load_inference_model(str(tmp_path / "m"), exe)
        assert exe.run(read, feed={"x": np.ones((2, 2), "float32")}, fetch_list=fetched)[0] == 12


class TestRefusals:
    def test_a_place_where_nothing_is(self, program: Any) -> None:
        array = array_write(paddle.zeros([2]), at(1))
        for place, said in ((0, "nothing was written there"), (5, "it has 2 places"), (-1, "it is -1")):
            with pytest.raises(ExecutionError, match=said):
                run(array_read(array, at(place)))

    def test_an_array_with_a_gap_is_not_one_tensor(self, program: Any) -> None:
        array = array_write(paddle.zeros([2]), at(1))
        with pytest.raises(ExecutionError, match="has nothing at place 0"):
            run(paddle.stack(array))

    def test_an_array_where_a_tensor_is_expected(self, program: Any) -> None:
        array = create_array("float32")
        with pytest.raises(TypeError, match=r"relu: 'array_0\.out' is an array of tensors"):
            paddle.nn.functional.relu(array)

    def test_a_tensor_where_an_array_is_expected(self, program: Any) -> None:
        x = paddle.zeros([2])
        for call in (lambda: array_write(x, at(0), x), lambda: array_read(x, at(0)), lambda: array_length(x)):
            with pytest.raises(ArgumentTypeError, match="array should be tensor array vairable"):
                call()
        with pytest.raises(TypeError, match="int64"):
            array_write(x, paddle.zeros([1]))
        with pytest.raises(TypeError, match="initialized_list"):
            create_array("float32", x)

    def test_an_array_is_not_fed(self, program: Any) -> None:
        array = create_array("float32", [paddle.zeros([2])])
        with pytest.raises(FeedError, match="an array of tensors, which cannot be fed"):
            run(array, **{array.name: np.zeros(2)})
