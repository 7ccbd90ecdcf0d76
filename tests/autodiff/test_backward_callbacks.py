"""What callbacks of ``append_backward`` are called with, how often, and what they may do."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradtool import paddle
from gradtool.engine.core.errors import OperatorError
from tests.autodiff.nets import backward_ops, data, main, mean, numbers, op, run, two_layers


class Recorder:
    """A callback that writes down what it sees."""

    def __init__(self) -> None:
        self.types: list[str] = []
        self.sizes: list[int] = []
        self.shown: list[int] = []
        self.contexts: list[dict[str, Any]] = []
        self.copies: list[dict[str, Any]] = []
        self.blocks: list[Any] = []

    def __call__(self, block: Any, context: dict[str, Any]) -> None:
        desc = context["__current_op_desc__"]
        self.types.append(desc.type())
        self.sizes.append(block.desc.op_size())
        self.shown.append(len(block.ops))
        self.contexts.append(context)
        self.copies.append({k: v for k, v in context.items() if k != "__current_op_desc__"})
        self.blocks.append(block)
        assert block.desc.op(block.desc.op_size() - 1) == desc


def test_once_for_each_operator_after_the_seed() -> None:
    x = data("x", 3)
    loss = mean(op("elementwise_add", op("tanh", x), op("exp", x)))
    forward = len(main().global_block().ops)
    seen = Recorder()
    paddle.static.append_backward(loss, [x], callbacks=[seen])
    assert seen.types == [o.type for o in backward_ops()[1:]]
    assert "sum" in seen.types
    assert seen.sizes == list(range(forward + 2, forward + 2 + len(seen.types)))
    assert seen.shown == [forward] * len(seen.types)
    assert all(b is main().global_block() for b in seen.blocks)


def test_the_context_is_complete_from_the_first_call_on() -> None:
    loss = two_layers()
    seen = Recorder()
    paddle.static.append_backward(loss, callbacks=[seen])
    assert all(c is seen.contexts[0] for c in seen.contexts)
    assert all(c == seen.copies[0] for c in seen.copies)
    written = {n for o in backward_ops() for n in o.output_arg_names}
    assert seen.copies[0] == {n: n.removesuffix("@GRAD") for n in written}


def test_the_context_holds_no_names_of_summands() -> None:
    w = paddle.static.create_parameter([3], "float32", name="w")
    seen = Recorder()
    paddle.static.append_backward(mean(w * w), callbacks=[seen])
    assert seen.copies[0]["w@GRAD"] == "w"
    assert not any("RENAME" in k for k in seen.copies[0])


def test_all_callbacks_for_one_operator_before_the_next() -> None:
    order: list[tuple[str, str]] = []

    def named(name: str) -> Any:
        return lambda block, context: order.append((name, context["__current_op_desc__"].type()))

    paddle.static.append_backward(two_layers(), callbacks=(named("first"), named("second")))
    types = [o.type for o in backward_ops()[1:]]
    assert order == [(name, t) for t in types for name in ("first", "second")]


def test_an_empty_list_of_callbacks() -> None:
    assert len(paddle.static.append_backward(two_layers(), callbacks=[])) == 4


def test_a_description_can_be_read_and_changed() -> None:
    def mark(block: Any, context: dict[str, Any]) -> None:
        desc = context["__current_op_desc__"]
        assert desc.input_arg_names() == [n for s in desc.input_names() for n in desc.input(s)]
        assert desc.output_arg_names() == [n for s in desc.output_names() for n in desc.output(s)]
        assert desc.has_attr("op_role")
        assert desc.attr("op_role") == 1
        desc._set_attr("op_namescope", f"/{desc.type()}/")

    paddle.static.append_backward(two_layers(), callbacks=[mark])
    assert all(o.attr("op_namescope") == f"/{o.type}/" for o in backward_ops()[1:])


def test_operators_that_a_callback_appends_run() -> None:
    """The error-clip pattern: an operator after each gradient operator, on the gradient that it made."""

    def halve(block: Any, context: dict[str, Any]) -> None:
        for name in context["__current_op_desc__"].output_arg_names():
            new = block.desc.append_op()
            new.set_type("scale")
            new.set_input("X", [name])
            new.set_output("Out", [name])
            new._set_attr("scale", 0.5)

    x = data("x", 3)
    loss = mean(op("tanh", op("exp", x)))
    ((_, gradient),) = paddle.static.append_backward(loss, [x], callbacks=[halve])
    assert [o.type for o in backward_ops()] == [
        "fill_constant",
        "reduce_mean_grad",
        "scale",
        "tanh_grad",
        "scale",
        "exp_grad",
        "scale",
    ]
    value = numbers(3)
    expected = (1 - np.tanh(np.exp(value)) ** 2) * np.exp(value) / 3 / 8
    np.testing.assert_allclose(run([gradient], {"x": value})[0], expected)


def test_a_description_without_a_type_is_refused() -> None:
    loss = two_layers()
    before = str(main())
    with pytest.raises(OperatorError, match="without a type"):
        paddle.static.append_backward(loss, callbacks=[lambda block, context: block.desc.append_op()])
    assert str(main()) == before
