"""Argument errors of ``append_backward`` and ``gradients``: the class, the message, and a program left as it was."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from gradtool import paddle
from gradtool.engine.autodiff.gradients import calc_gradient
from gradtool.engine.core import state
from gradtool.engine.core.errors import GradientError, LossError, LossTypeError, ModeError, NoGradientRule
from gradtool.engine.ops.opdef import OpDef, parse_slots
from gradtool.paddle._dispatch import apply
from tests.autodiff.nets import data, main, mean, op, two_layers


@contextmanager
def unchanged() -> Iterator[None]:
    """The main program's text, variables, version and counter are the same afterwards."""

    def snapshot() -> tuple[Any, ...]:
        program = main()
        block = program.global_block()
        return (
            str(program),
            list(block.vars),
            [id(o) for o in block.ops],
            [v.op for v in block.vars.values()],
            block.desc.op_size(),
            program.version,
            program._appending_grad_times,
            program.names.every_count(),
        )

    before = snapshot()
    yield
    assert snapshot() == before


@pytest.mark.parametrize("loss", [None, "mean_0.tmp_0", 1.0, []], ids=repr)
def test_a_loss_that_is_no_variable(loss: Any) -> None:
    two_layers()
    with unchanged(), pytest.raises(LossTypeError, match=r"'loss' in paddle\.static\.append_backward") as caught:
        paddle.static.append_backward(loss)
    assert isinstance(caught.value, AssertionError)
    assert isinstance(caught.value, TypeError)
    assert type(loss).__name__ in caught.value.message


BAD_ARGUMENTS: dict[str, tuple[dict[str, Any], type[Exception], str]] = {
    "parameter_list is a name": ({"parameter_list": "a.w_0"}, TypeError, "'parameter_list'"),
    "parameter_list is a dict": ({"parameter_list": {"a.w_0": 1}}, TypeError, "'parameter_list'"),
    "an element of parameter_list": ({"parameter_list": ["a.w_0", 3]}, TypeError, r"'parameter_list\[1\]'"),
    "no_grad_set is a name": ({"no_grad_set": "a.w_0"}, TypeError, "'no_grad_set'"),
    "no_grad_set is a dict": ({"no_grad_set": {"a.w_0": 1}}, TypeError, "'no_grad_set'"),
    "an element of no_grad_set": ({"no_grad_set": {3}}, TypeError, "no_grad_set's members"),
    "callbacks is a function": ({"callbacks": print}, TypeError, "'callbacks'"),
    "an element of callbacks": ({"callbacks": [print, 3]}, ValueError, "must be a callable object"),
}


@pytest.mark.parametrize("case", BAD_ARGUMENTS)
def test_bad_arguments(case: str) -> None:
    arguments, error, message = BAD_ARGUMENTS[case]
    loss = two_layers()
    with unchanged(), pytest.raises(error, match=message):
        paddle.static.append_backward(loss, **arguments)


def test_a_bad_argument_after_a_call_that_worked() -> None:
    loss = two_layers()
    paddle.static.append_backward(loss)
    with unchanged(), pytest.raises(TypeError):
        paddle.static.append_backward(loss, no_grad_set="a.w_0")


def test_dynamic_mode() -> None:
    loss = two_layers()
    state.disable_static()
    with unchanged(), pytest.raises(ModeError, match="enable_static") as caught:
        paddle.static.append_backward(loss)
    assert isinstance(caught.value, AssertionError)


def test_a_loss_that_is_fed() -> None:
    x = paddle.static.data("x", [1], "float32")
    with unchanged(), pytest.raises(LossError, match="not computed by any operator") as caught:
        paddle.static.append_backward(x)
    assert isinstance(caught.value, ValueError)
    assert caught.value.variable == "x"


@pytest.mark.parametrize("shape", [(4, 2), (-1,), (0,)], ids=repr)
def test_a_loss_of_several_elements(shape: tuple[int, ...]) -> None:
    x = paddle.static.data("x", shape, "float32")
    x.stop_gradient = False
    loss = x * x
    with unchanged(), pytest.raises(LossError, match="must have one element") as caught:
        paddle.static.append_backward(loss)
    assert str(list(shape)) in caught.value.message
    assert (caught.value.made or "").endswith("loss = x * x")
    assert "paddle.mean" in (caught.value.hint or "")


@pytest.mark.parametrize("shape", [(), (1,), (1, 1)], ids=repr)
def test_losses_of_one_element(shape: tuple[int, ...]) -> None:
    x = data("x", *shape)
    ((_, gradient),) = paddle.static.append_backward(op("tanh", x), [x])
    assert gradient.shape == shape
    seed = main().global_block().ops[1]
    assert (seed.type, tuple(seed.attr("shape")), seed.attr("op_role")) == ("fill_constant", shape, 257)
    assert seed.attr("dtype") == 6
    assert main().global_block().ops[0].attr("op_role") == 256


GRADIENTS_ARGUMENTS: dict[str, tuple[Callable[[Any, Any], tuple[Any, ...]], type[Exception], str]] = {
    "targets is None": (lambda x, y: (None, x), TypeError, "'targets'"),
    "targets is a name": (lambda x, y: ("y", x), TypeError, "'targets'"),
    "targets is a set": (lambda x, y: ({y}, x), TypeError, "'targets'"),
    "an element of targets": (lambda x, y: ([y, 1], x), AttributeError, r"'targets\[1\]'"),
    "no targets": (lambda x, y: ([], x), IndexError, "'targets'"),
    "inputs is a number": (lambda x, y: (y, 3), TypeError, "'inputs'"),
    "an element of inputs": (lambda x, y: (y, ["x"]), AttributeError, r"'inputs\[0\]'"),
    "target_gradients is a number": (lambda x, y: (y, x, 1.0), TypeError, "'target_gradients'"),
    "an element of target_gradients": (lambda x, y: (y, x, ["x"]), TypeError, "'target_gradients'"),
    "too many target_gradients": (lambda x, y: (y, x, [x, x]), ValueError, "1 targets and 2 target_gradients"),
    "a target gradient of another shape": (lambda x, y: (y, x, mean(x)), ValueError, "differ"),
    "no_grad_set is a name": (lambda x, y: (y, x, None, "x"), TypeError, "'no_grad_set'"),
}


@pytest.mark.parametrize("function", [paddle.static.gradients, calc_gradient], ids=["gradients", "calc_gradient"])
@pytest.mark.parametrize("case", GRADIENTS_ARGUMENTS)
def test_bad_arguments_of_gradients(case: str, function: Any) -> None:
    make, error, message = GRADIENTS_ARGUMENTS[case]
    x = data("x", 2, 3)
    y = op("tanh", x)
    arguments = make(x, y)
    with unchanged(), pytest.raises(error, match=message):
        function(*arguments)


def no_way_back() -> OpDef:
    """An operator that could have a gradient rule and has none."""
    return OpDef("mystery", "mystery", parse_slots("X"), parse_slots("Out"), lambda k, x: x)


def test_an_operator_without_a_rule_on_the_path(monkeypatch: pytest.MonkeyPatch) -> None:
    from gradtool.engine.ops import registry

    mystery = no_way_back()
    mystery.infer(lambda x: x)
    registry.load()
    monkeypatch.setitem(registry._by_type, "mystery", mystery)
    x = data("x", 3)
    hidden = apply("mystery", op("tanh", x))
    loss = mean(hidden)
    for call in (lambda: paddle.static.append_backward(loss, [x]), lambda: paddle.static.gradients(loss, x)):
        with unchanged(), pytest.raises(NoGradientRule, match="mystery has no gradient") as caught:
            call()
        assert isinstance(caught.value, GradientError)
        assert isinstance(caught.value, RuntimeError)
        assert caught.value.op == "mystery(X=tanh_0.tmp_0) -> Out=mystery_0.tmp_0"
        assert (caught.value.made or "").endswith('hidden = apply("mystery", op("tanh", x))')
        assert "stop_gradient" in (caught.value.hint or "")
    # Cut off on purpose it is no obstacle, nor beside the path that is asked for.
    assert paddle.static.append_backward(loss, [], no_grad_set={hidden}) == []
    other = data("other", 3)
    assert paddle.static.gradients(mean(hidden * other), other)[0] is not None


def test_operators_that_have_no_gradient_by_nature_end_the_path() -> None:
    x = data("x", 3)
    mask = op("cast", op("greater_than", x, op("scale", x, scale=0.5)), in_dtype=0, out_dtype=6)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        (gradient,) = paddle.static.gradients(op("elementwise_mul", mask, x), x)
    assert gradient is not None
    assert not any("greater_than" in o.type for o in main().global_block().ops[3:])


def test_a_callback_that_raises_leaves_the_program_as_it_was() -> None:
    loss = two_layers()
    calls = []

    def third_time(block: Any, context: Any) -> None:
        calls.append(block.desc.append_op())
        if len(calls) == 3:
            raise KeyError("no more")
        calls[-1].set_type("scale")
        calls[-1].set_input("X", ["mean_0.tmp_0@GRAD"])
        calls[-1].set_output("Out", ["mean_0.tmp_0@GRAD"])

    with unchanged(), pytest.raises(KeyError, match="no more"):
        paddle.static.append_backward(loss, callbacks=[third_time])
    assert len(paddle.static.append_backward(loss)) == 4
