"""Several consumers: the names of the summands, where the ``sum`` stands, and what it adds up to."""

from __future__ import annotations

import numpy as np

from gradtool import paddle
from tests.autodiff.nets import (
    backward_ops,
    check_by_differences,
    data,
    lines,
    main,
    mean,
    names,
    numbers,
    op,
    pairs,
    run,
)


def parameter(name: str, *shape: int) -> paddle.static.Variable:
    return paddle.static.create_parameter(list(shape), "float32", name=name)


def test_a_parameter_with_two_consumers_is_summed_at_the_end() -> None:
    x = paddle.static.data("x", [2, 3], "float32")
    w = parameter("w", 2, 3)
    loss = mean(op("elementwise_add", x * w, op("relu", w)))
    result = paddle.static.append_backward(loss)
    assert pairs(result) == [("w", "w@GRAD")]
    ops = backward_ops()
    assert [o.type for o in ops] == [
        "fill_constant",
        "reduce_mean_grad",
        "elementwise_add_grad",
        "relu_grad",
        "elementwise_mul_grad",
        "sum",
    ]
    assert ops[3].output("X@GRAD") == ["w@GRAD@RENAME@block0@0"]
    assert ops[4].output("Y@GRAD") == ["w@GRAD@RENAME@block0@1"]
    assert ops[4].output("X@GRAD") == []
    assert ops[5].input("X") == ["w@GRAD@RENAME@block0@0", "w@GRAD@RENAME@block0@1"]
    assert ops[5].attr("op_role_var") == ["w", "w@GRAD"]
    assert result[0][1].op is ops[5]


def test_a_value_that_is_read_again_is_summed_just_before() -> None:
    x = data("x", 2, 3)
    h = op("tanh", x)
    loss = mean(op("elementwise_add", op("exp", h), op("sin", h)))
    paddle.static.append_backward(loss, [x])
    types = [o.type for o in backward_ops()]
    assert types[types.index("sum") + 1] == "tanh_grad"
    assert types[types.index("sum") - 2 : types.index("sum")] == ["sin_grad", "exp_grad"]


def test_one_operator_that_reads_a_variable_twice() -> None:
    w = parameter("w", 3)
    paddle.static.append_backward(mean(w * w))
    assert lines(backward_ops())[-2:] == [
        "elementwise_mul_grad(tmp_0@GRAD w w) -> w@GRAD@RENAME@block0@0 w@GRAD@RENAME@block0@1",
        "sum(w@GRAD@RENAME@block0@0 w@GRAD@RENAME@block0@1) -> w@GRAD",
    ]


def test_many_consumers_are_one_sum() -> None:
    x = data("x", 4)
    branches = [op("scale", x, scale=float(i)) for i in range(1, 8)]
    loss = mean(op("sum", branches))
    (gradient,) = paddle.static.gradients(loss, x)
    sums = [o for o in backward_ops() if o.type == "sum"]
    assert len(sums) == 1
    assert sums[0].input("X") == [f"x@GRAD@RENAME@block0@{i}" for i in range(7)]
    np.testing.assert_allclose(run([gradient], {"x": numbers(4)})[0], np.full(4, 28 / 4))


def test_sums_in_the_middle_and_at_the_end() -> None:
    """A residual net: each level's value has two consumers."""
    x = data("x", 3)
    h = x
    for _ in range(4):
        h = op("elementwise_add", h, op("tanh", h))
    (gradient,) = paddle.static.gradients(op("reduce_sum", h, reduce_all=True), x)
    assert [o.type for o in backward_ops()].count("sum") == 4
    value = {"x": numbers(3)}
    check_by_differences(h, value, {"x": run([gradient], value)[0]})


def test_duplicate_inputs_give_the_same_gradient_twice() -> None:
    x = data("x", 3)
    first, second = paddle.static.gradients(mean(op("exp", x)), [x, x])
    assert first is second
    assert names([first]) == ["x@GRAD"]


def test_a_name_asked_for_twice_is_paired_twice() -> None:
    w = parameter("w", 3)
    assert pairs(paddle.static.append_backward(mean(op("exp", w)), ["w", w])) == [("w", "w@GRAD")] * 2
    assert backward_ops()[-1].attr("op_role_var") == ["w", "w@GRAD"]


def test_new_variables_come_in_alphabetical_order() -> None:
    x = data("x", 3)
    before = list(main().global_block().vars)
    loss = mean(op("elementwise_add", op("tanh", x), op("exp", x)))
    forward = list(main().global_block().vars)
    paddle.static.append_backward(loss, [x])
    new = list(main().global_block().vars)[len(forward) :]
    assert new == sorted(new)
    assert len(forward) > len(before)
