"""A gradient belongs to a value, not to a name: programs that write a variable several times."""

from __future__ import annotations

import numpy as np
import pytest

from gradtool import paddle
from gradtool.engine.ir.variable import Variable
from tests.autodiff.nets import check_by_differences, data, main, mean, numbers, op, run


def write(type_: str, source: Variable | list[Variable], target: Variable, **attrs: object) -> None:
    """Append an operator that writes to an existing variable."""
    main().global_block().append_op(type_, {"X": source}, {"Out": target}, attrs)


def check(target: Variable, *sizes: int) -> None:
    x = main().global_block().var("x")
    (gradient,) = paddle.static.gradients(target, x)
    value = {"x": numbers(*sizes)}
    check_by_differences(target, value, {"x": run([gradient], value)[0]})


def test_a_value_read_before_and_after_it_is_overwritten() -> None:
    x = data("x", 3)
    h = op("exp", x)
    before = op("tanh", h)
    write("assign", op("scale", x, scale=3.0), h)
    check(op("elementwise_add", before, op("square", h)), 3)


def test_the_old_value_is_kept_for_its_gradient() -> None:
    """``tanh_grad`` reads its output, which is overwritten before the backward part runs."""
    x = data("x", 3)
    h = op("tanh", x)
    used = op("elementwise_mul", h, x)
    write("scale", x, h, scale=5.0)
    target = op("elementwise_add", used, h)
    check(target, 3)
    assert [o.type for o in main().global_block().ops].count("assign") >= 1


def test_a_variable_updated_from_itself() -> None:
    x = data("x", 3)
    h = op("exp", x)
    for factor in (0.5, -2.0, 3.0):
        write("tanh", h, h)
        write("scale", h, h, scale=factor)
    check(op("square", h), 3)


def test_every_version_is_used() -> None:
    x = data("x", 3)
    h = op("scale", x, scale=1.5)
    used = [op("exp", h)]
    for _ in range(3):
        write("tanh", op("elementwise_mul", h, x), h)
        used.append(op("square", h))
    check(op("sum", used), 3)


def test_a_chain_of_overwritten_sums() -> None:
    x = data("x", 3)
    total = op("scale", x, scale=0.0)
    for power in range(1, 5):
        write("sum", [total, op("pow", x, factor=float(power))], total)
    check(total, 3)


def test_a_value_that_is_overwritten_and_never_read() -> None:
    x = data("x", 3)
    h = op("exp", x)
    write("tanh", x, h)
    (gradient,) = paddle.static.gradients(h, x)
    value = numbers(3)
    np.testing.assert_allclose(run([gradient], {"x": value})[0], 1 - np.tanh(value) ** 2)


def test_an_input_that_is_overwritten_means_its_first_value() -> None:
    w = paddle.static.create_parameter([3], "float64", name="w")
    y = op("exp", w)
    write("scale", w, w, scale=0.5)
    ((_, gradient),) = paddle.static.append_backward(mean(op("elementwise_add", y, w)), [w])
    exe = paddle.static.Executor()
    exe.run(paddle.static.default_startup_program())
    value = numbers(3)
    paddle.static.global_scope().var("w").get_tensor().set(value)
    (result,) = exe.run(main(), fetch_list=[gradient])
    np.testing.assert_allclose(result, (np.exp(value) + 0.5) / 3)
    np.testing.assert_allclose(paddle.static.global_scope().find_var("w").get_tensor(), value / 2)


@pytest.mark.parametrize("order", [1, 2])
def test_higher_order_through_an_overwritten_variable(order: int) -> None:
    x = data("x", 3)
    h = op("exp", x)
    before = op("tanh", h)
    write("square", h, h)
    y = op("elementwise_mul", before, h)
    target = y
    for _ in range(order):
        (target,) = paddle.static.gradients(target, x)
    (gradient,) = paddle.static.gradients(target, x)
    value = {"x": numbers(3)}
    check_by_differences(target, value, {"x": run([gradient], value)[0]})


def test_the_backward_part_does_not_change_the_forward_values() -> None:
    x = data("x", 3)
    h = op("tanh", x)
    used = op("square", h)
    write("exp", x, h)
    y = op("elementwise_add", used, h)
    value = {"x": numbers(3)}
    before = run([y, used, h], value)
    paddle.static.gradients(y, x)
    for a, b in zip(before, run([y, used, h], value), strict=True):
        np.testing.assert_array_equal(a, b)
