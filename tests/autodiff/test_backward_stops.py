"""Where gradients end: ``no_grad_set``, ``stop_gradient``, unused outputs and their zeros."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradtool import paddle
from gradtool.engine.core.errors import UnknownNameWarning
from gradtool.paddle._dispatch import apply
from tests.autodiff.nets import backward_ops, data, lines, main, mean, names, numbers, op, pairs, run, two_layers

FORMS = {
    "set of names": lambda v: {v.name},
    "list of variables": lambda v: [v],
    "tuple": lambda v: (v.name,),
    "set of variables": lambda v: {v},
    "frozenset": lambda v: frozenset([v.name]),
}


@pytest.mark.parametrize("form", FORMS)
def test_forms_of_the_no_grad_set(form: str) -> None:
    loss = two_layers()
    hidden = main().global_block().var("tanh_0.tmp_0")
    result = paddle.static.append_backward(loss, no_grad_set=FORMS[form](hidden))
    assert pairs(result) == [("b.w_0", "b.w_0@GRAD"), ("b.b_0", "b.b_0@GRAD")]
    assert backward_ops()[-1].type == "mul_grad"
    assert backward_ops()[-1].output("X@GRAD") == []


def test_a_stopped_variable_empties_its_slot() -> None:
    loss = two_layers()
    paddle.static.append_backward(loss, no_grad_set={"b.tmp_0"})
    last = backward_ops()[-1]
    assert (last.type, last.output("X@GRAD"), last.output("Y@GRAD")) == ("elementwise_add_grad", [], ["b.b_0@GRAD"])


def test_a_stopped_loss_leaves_the_seed_only() -> None:
    loss = two_layers()
    assert paddle.static.append_backward(loss, no_grad_set=[loss]) == []
    assert [o.type for o in backward_ops()] == ["fill_constant"]


def test_all_parameters_stopped() -> None:
    loss = two_layers()
    stopped = {p.name for p in main().all_parameters()}
    assert paddle.static.append_backward(loss, no_grad_set=stopped) == []
    assert not any(n in stopped for o in backward_ops() for n in o.output_arg_names)


def test_stop_gradient_set_after_building() -> None:
    loss = two_layers()
    main().global_block().var("tanh_0.tmp_0").stop_gradient = True
    assert [p for p, _ in pairs(paddle.static.append_backward(loss))] == ["b.w_0", "b.b_0"]


def test_trainable_decides_only_what_is_asked_by_default() -> None:
    loss = two_layers()
    parameter = main().global_block().var("a.w_0")
    parameter.trainable = False
    assert "a.w_0" not in dict(pairs(paddle.static.append_backward(loss)))
    assert pairs(paddle.static.append_backward(loss, ["a.w_0"])) == [("a.w_0", "a.w_0@GRAD")]


def test_a_parameter_made_not_trainable_has_no_gradient() -> None:
    x = paddle.static.data("x", [4, 5], "float32")
    loss = mean(paddle.static.nn.fc(x, 3, name="a", weight_attr=paddle.ParamAttr(trainable=False)))
    assert pairs(paddle.static.append_backward(loss, ["a.w_0", "a.b_0"])) == [("a.b_0", "a.b_0@GRAD")]


def test_an_empty_list_asks_for_nothing_but_builds_everything() -> None:
    loss = two_layers()
    assert paddle.static.append_backward(loss, parameter_list=[]) == []
    assert "a.w_0@GRAD" in main().global_block().vars
    assert all(o.attr("op_role_var") == [] for o in backward_ops())


def test_variables_that_are_no_parameters_can_be_asked_for() -> None:
    loss = two_layers()
    assert pairs(paddle.static.append_backward(loss, ["tanh_0.tmp_0", "a.b_0"])) == [
        ("tanh_0.tmp_0", "tanh_0.tmp_0@GRAD"),
        ("a.b_0", "a.b_0@GRAD"),
    ]


def test_each_pair_is_noted_on_the_operator_that_makes_the_gradient() -> None:
    paddle.static.append_backward(two_layers())
    by_type = {o.type: o.attr("op_role_var") for o in backward_ops() if o.attr("op_role_var")}
    assert by_type == {"mul_grad": ["a.w_0", "a.w_0@GRAD"], "elementwise_add_grad": ["a.b_0", "a.b_0@GRAD"]}
    noted = [o.attr("op_role_var")[0] for o in backward_ops() if o.attr("op_role_var")]
    assert noted == ["b.b_0", "b.w_0", "a.b_0", "a.w_0"]


def test_the_later_of_two_pairs_of_one_operator_comes_first() -> None:
    v = [paddle.static.create_parameter([2, 2], "float32", name=n) for n in ("p", "q")]
    paddle.static.append_backward(mean(v[0] * v[1]))
    assert backward_ops()[-1].attr("op_role_var") == ["q", "q@GRAD", "p", "p@GRAD"]


def test_outputs_without_a_gradient_are_filled_with_zeros() -> None:
    x = data("x", 6)
    first, second, third = apply("split", x, attrs={"num": 3, "axis": 0}, counts=[3])
    (gradient,) = paddle.static.gradients(op("reduce_sum", second, reduce_all=True), x)
    shown = [line for line in lines(backward_ops()) if not line.startswith("reduce")]
    assert shown[1:] == [
        f"fill_any_like({first.name}) -> {first.name}@GRAD",
        f"fill_any_like({third.name}) -> {third.name}@GRAD",
        f"concat({first.name}@GRAD {second.name}@GRAD {third.name}@GRAD) -> x@GRAD",
    ]
    np.testing.assert_array_equal(run([gradient], {"x": numbers(6)})[0], [0, 0, 1, 1, 0, 0])


def test_a_no_grad_set_cuts_one_path_only() -> None:
    x = data("x", 3)
    left, right = op("exp", x), op("sin", x)
    (gradient,) = paddle.static.gradients(op("elementwise_add", left, right), x, no_grad_set={left.name})
    value = numbers(3)
    np.testing.assert_allclose(run([gradient], {"x": value})[0], np.cos(value))


def test_a_detached_value_passes_nothing() -> None:
    x = data("x", 3)
    cut = op("share_data", op("exp", x))
    cut.stop_gradient = True
    (gradient,) = paddle.static.gradients(op("elementwise_mul", cut, x), x)
    value = numbers(3)
    np.testing.assert_allclose(run([gradient], {"x": value})[0], np.exp(value))


@pytest.mark.parametrize(
    ("argument", "name", "near"),
    [("parameter_list", "a.w0", "a.w_0"), ("no_grad_set", "tanh_0.tmp", "tanh_0.tmp_0")],
)
def test_unknown_names_warn_and_name_what_is_near(argument: str, name: str, near: str) -> None:
    loss = two_layers()
    with pytest.warns(UnknownNameWarning, match=near) as caught:
        result = paddle.static.append_backward(loss, **{argument: [name]})
    assert argument in str(caught[0].message)
    assert caught[0].filename == __file__
    assert len(result) == (0 if argument == "parameter_list" else 4)


def test_gradients_gives_none_where_an_input_does_not_matter() -> None:
    x, other, stopped = data("x", 3), data("other", 3), data("stopped", 3, gradient=False)
    y = op("elementwise_add", op("exp", x), stopped)
    assert names(paddle.static.gradients(y, [x, other, stopped])) == ["x@GRAD", None, None]
    assert paddle.static.gradients(y, other) == [None]
    assert paddle.static.gradients(y, stopped) == [None]
    assert paddle.static.gradients(y, []) == []


def test_gradients_stops_at_what_is_asked() -> None:
    x = data("x", 3)
    hidden = op("exp", x)
    paddle.static.gradients(op("sin", hidden), hidden)
    assert [o.type for o in backward_ops()] == ["fill_any_like", "sin_grad"]


def test_a_loss_without_parameters_leaves_the_seed_only() -> None:
    x: Any = data("x", 3, gradient=False)
    assert paddle.static.append_backward(mean(op("exp", x))) == []
    assert [o.type for o in backward_ops()] == ["fill_constant"]
