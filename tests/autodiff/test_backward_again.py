"""Backward calls on a program that has been through one: reuse of equal gradients, prefixes for different ones."""

from __future__ import annotations

import numpy as np
import pytest

from gradtool import paddle
from gradtool.engine.ir.variable import Variable
from tests.autodiff.nets import (
    backward_ops,
    check_by_differences,
    data,
    main,
    mean,
    names,
    numbers,
    op,
    pairs,
    run,
    two_layers,
)


def documented_net() -> Variable:
    """The network of the documents: an embedding, a fully connected layer and a squared error."""
    x = paddle.static.data("x", [None, 13], "int64")
    y = paddle.static.data("y", [None, 1], "float32")
    x_emb = paddle.static.nn.embedding(x, size=[100, 256])
    y_predict = paddle.static.nn.fc(x_emb, size=1, activation=None, name="my_fc")
    return mean(paddle.nn.functional.square_error_cost(y_predict, y))


EMBEDDING = ("embedding_0.w_0", "embedding_0.w_0@GRAD")
WEIGHT = ("my_fc.w_0", "my_fc.w_0@GRAD")
BIAS = ("my_fc.b_0", "my_fc.b_0@GRAD")


def test_the_six_documented_calls_on_one_program() -> None:
    loss = documented_net()
    block = main().global_block()
    weights = [p for p in main().all_parameters() if not p.name.endswith("b_0")]
    x_emb = block.var("embedding_0.tmp_0")
    call = paddle.static.append_backward
    assert pairs(call(loss)) == [EMBEDDING, WEIGHT, BIAS]
    size = len(block.ops)
    assert pairs(call(loss, parameter_list=weights)) == [EMBEDDING, WEIGHT]
    assert pairs(call(loss, parameter_list=[w.name for w in weights])) == [EMBEDDING, WEIGHT]
    assert pairs(call(loss, no_grad_set=[x_emb])) == [WEIGHT, BIAS]
    assert pairs(call(loss, no_grad_set=["my_fc.b_0"])) == [EMBEDDING, WEIGHT]
    assert pairs(call(loss, parameter_list=[], no_grad_set=[p.name for p in main().all_parameters()])) == []
    assert len(block.ops) == size
    assert main()._appending_grad_times == 6


def test_a_call_that_wants_more_appends_only_what_is_new() -> None:
    loss = two_layers()
    hidden = main().global_block().var("tanh_0.tmp_0")
    assert len(paddle.static.append_backward(loss, no_grad_set={hidden})) == 2
    before = backward_ops()
    assert len(paddle.static.append_backward(loss)) == 4
    added = backward_ops()[len(before) :]
    assert [o.type for o in added] == ["mul_grad", "tanh_grad", "elementwise_add_grad", "mul_grad"]
    assert added[0].output("Y@GRAD") == []
    assert not any(n.startswith("grad/") for o in added for n in o.output_arg_names)


def test_another_loss_gets_prefixed_names_and_right_values() -> None:
    x = data("x", 3)
    hidden = op("tanh", x)
    first, second = mean(hidden), mean(op("exp", hidden))
    ((_, a),) = paddle.static.append_backward(first, [x])
    ((_, b),) = paddle.static.append_backward(second, [x])
    assert names([a, b]) == ["x@GRAD", "grad/grad/x@GRAD"]
    ((_, c),) = paddle.static.append_backward(op("reduce_sum", hidden, reduce_all=True), [x])
    assert names([c]) == ["grad/grad/grad/x@GRAD"]
    value = numbers(3)
    got = run([a, b, c], {"x": value})
    slope = 1 - np.tanh(value) ** 2
    np.testing.assert_allclose(got, [slope / 3, slope * np.exp(np.tanh(value)) / 3, slope])


def test_summands_of_a_second_call_are_prefixed_too() -> None:
    w = paddle.static.create_parameter([3], "float32", name="w")
    square = w * w
    paddle.static.append_backward(mean(square))
    paddle.static.append_backward(mean(op("exp", square)))
    assert backward_ops()[-1].input("X") == ["grad/grad/w@GRAD@RENAME@block0@0", "grad/grad/w@GRAD@RENAME@block0@1"]
    assert backward_ops()[-1].output("Out") == ["grad/grad/w@GRAD"]


def test_a_write_in_between_makes_it_a_different_value() -> None:
    x = data("x", 3)
    h = op("tanh", x)
    loss = mean(op("exp", h))
    ((_, first),) = paddle.static.append_backward(loss, [x])
    main().global_block().append_op("scale", {"X": h}, {"Out": h}, {"scale": 2.0})
    again = mean(op("exp", h))
    ((_, second),) = paddle.static.append_backward(again, [x])
    value = numbers(3)
    got = run([first, second], {"x": value})
    inner, slope = np.tanh(value), 1 - np.tanh(value) ** 2
    np.testing.assert_allclose(got[0], slope * np.exp(inner) / 3)
    np.testing.assert_allclose(got[1], 2 * slope * np.exp(2 * inner) / 3)


def test_a_contribution_that_was_a_summand_before_stands_alone() -> None:
    """First the sum over two paths, then one path alone, whose gradient the first call made as a summand."""
    x = data("x", 3)
    left, right = op("tanh", x), op("exp", x)
    loss = mean(op("elementwise_add", left, right))
    ((_, both),) = paddle.static.append_backward(loss, [x])
    ((_, one),) = paddle.static.append_backward(loss, [x], no_grad_set={left})
    value = numbers(3)
    got = run([both, one], {"x": value})
    np.testing.assert_allclose(got[1], np.exp(value) / 3)
    np.testing.assert_allclose(got[0], np.exp(value) / 3 + (1 - np.tanh(value) ** 2) / 3)


def test_operators_that_compute_the_same_keep_their_places() -> None:
    """``sum`` is differentiated by one ``scale`` per input, all with the same operand."""
    x = data("x", 3)
    branches = [op("tanh", x), op("exp", x), x, op("tanh", x), x]
    loss = mean(op("sum", branches))
    first = paddle.static.append_backward(loss, [x, *branches])
    text = str(main())
    again = paddle.static.append_backward(loss, [x, *branches])
    assert pairs(again) == pairs(first)
    assert str(main()) == text
    size = len(backward_ops())
    assert pairs(paddle.static.append_backward(loss, [branches[1]], no_grad_set=[branches[0]])) == pairs(first[2:3])
    assert [o.type for o in backward_ops()[size:]] == ["sum"], "only x has another gradient now"


def test_gradients_twice() -> None:
    x = data("x", 3)
    y = op("exp", x)
    (first,) = paddle.static.gradients(y, x)
    size = len(main().global_block().ops)
    (second,) = paddle.static.gradients(y, x)
    assert second is first
    assert len(main().global_block().ops) == size


def test_gradients_and_append_backward_on_one_program() -> None:
    x = data("x", 3)
    hidden = op("tanh", x)
    loss = mean(hidden)
    ((_, a),) = paddle.static.append_backward(loss, [x])
    (b,) = paddle.static.gradients(hidden, x)
    value = numbers(3)
    got = run([a, b], {"x": value})
    np.testing.assert_allclose(got[0] * 3, got[1])
    check_by_differences(hidden, {"x": value}, {"x": got[1]})


def test_a_clone_goes_on_where_the_program_was() -> None:
    loss = two_layers()
    paddle.static.append_backward(loss)
    copy = main().clone()
    with paddle.static.program_guard(copy):
        again = copy.global_block().var(loss.name)
        result = paddle.static.append_backward(again)
    assert sorted(pairs(result)) == sorted((p.name, f"{p.name}@GRAD") for p in main().all_parameters())
    assert all(p.block.program is copy for pair in result for p in pair)
    assert str(main().clone()) == str(copy.clone())


@pytest.mark.parametrize("kind", ["elementwise_add", "sum"])
def test_what_read_a_seed_is_not_reused_once_the_seed_is_written_again(kind: str) -> None:
    """However its gradients are made: by one operator, or by one per input that all compute the same."""
    x, y = data("x", 1), data("y", 1)
    loss = op("sum", [x, y]) if kind == "sum" else op("elementwise_add", x, y)
    paddle.static.append_backward(loss, [x, y])
    result = paddle.static.gradients(loss, [x, y])
    assert names(result) == ["grad/grad/x@GRAD", "grad/grad/y@GRAD"]
    got = run(result, {"x": numbers(1), "y": numbers(1)})
    np.testing.assert_array_equal(got, [[1.0], [1.0]])
