"""Copies of programs share nothing that can be edited; copies for testing keep the forward part."""

from __future__ import annotations

import numpy as np
import pytest

from gradtool import paddle
from gradtool.engine.ir.program import Block, Program
from gradtool.engine.ir.variable import Variable
from gradtool.engine.ir.verify import verify


@pytest.fixture
def loss() -> Variable:
    """A small model in the default programs, with its backward part."""
    x = paddle.static.data("x", [None, 3])
    h = paddle.static.nn.fc(x, 4, name="b", activation="relu")
    loss = paddle.mean(paddle.static.nn.fc(h, 2, name="a"))
    paddle.static.append_backward(loss)
    return loss


def types(program: Program) -> list[str]:
    return [o.type for o in program.global_block().ops]


def test_a_copy_prints_the_same_operators_and_sorted_variables(loss: Variable) -> None:
    program = loss.block.program
    copy = program.clone()
    verify(copy)
    assert list(map(str, copy.global_block().ops)) == list(map(str, program.global_block().ops))
    assert list(copy.global_block().vars) == sorted(program.global_block().vars)
    assert [p.name for p in copy.all_parameters()] == ["a.b_0", "a.w_0", "b.b_0", "b.w_0"]


def test_a_copy_shares_nothing_that_can_be_edited(loss: Variable) -> None:
    program = loss.block.program
    text = str(program)
    copy = program.clone()
    block = copy.global_block()
    assert not set(map(id, copy.list_vars())) & set(map(id, program.list_vars()))
    assert not set(map(id, block.ops)) & set(map(id, program.global_block().ops))
    weight = block.var("a.w_0")
    weight.trainable = False
    weight.optimize_attr["learning_rate"] = 0.5
    block.ops[0]._set_attr("x_num_col_dims", 2)
    block.append_op("relu", {"X": weight}, {"Out": block.create_var("new")})
    block._rename_var("x", "input")
    copy.names("fc")
    assert str(program) == text
    assert program.global_block().var("a.w_0").optimize_attr == {"learning_rate": 1.0}
    assert program.names("fc") == "fc_0"


def test_gradient_operators_of_a_copy_point_into_the_copy(loss: Variable) -> None:
    copy = loss.block.program.clone()
    ops = copy.global_block().ops
    for op in ops:
        assert op.origin is None or any(op.origin is o for o in ops)
    assert any(op.origin is not None for op in ops)


def test_counters_go_along(loss: Variable) -> None:
    program = loss.block.program
    program.random_seed = 7
    copy, test = program.clone(), program.clone(for_test=True)
    assert (copy.random_seed, test.random_seed) == (7, 7)
    assert (copy._appending_grad_times, test._appending_grad_times) == (1, 0)
    for other in (copy, test):
        with paddle.static.program_guard(other, Program()):
            assert paddle.nn.functional.relu(other.global_block().var("x")).name == "relu_0.tmp_0"
            assert paddle.mean(other.global_block().var("x")).name == "mean_1.tmp_0"


def test_a_copy_for_testing_keeps_the_forward_part(loss: Variable) -> None:
    test = loss.block.program.clone(for_test=True)
    verify(test)
    assert types(test) == ["mul", "elementwise_add", "relu", "mul", "elementwise_add", "reduce_mean"]
    assert [o.role for o in test.global_block().ops] == [0, 0, 0, 0, 0, 256]
    assert not [n for n in test.global_block().vars if "@GRAD" in n]
    assert all(p.trainable for p in test.all_parameters())


def test_a_copy_for_testing_drops_unused_variables_only_with_the_operators_that_used_them() -> None:
    x = paddle.static.data("x", [2, 3])
    paddle.static.create_global_var([1], 0.5, "float32", persistable=True, name="counter")
    loss = paddle.mean(paddle.static.nn.fc(x, 2))
    program = loss.block.program
    assert program.clone(for_test=True).global_block().has_var("counter")
    paddle.static.append_backward(loss)
    assert not program.clone(for_test=True).global_block().has_var("counter")


def test_dropout_and_batch_norm_are_switched_to_test_form() -> None:
    program = paddle.static.default_main_program()
    block = program.global_block()
    x = paddle.static.data("x", [4, 3])
    variables = {n: block.create_var(n) for n in ("out", "mask", "y", "mean", "var", "reserve")}
    block.append_op("dropout", {"X": x}, {"Out": variables["out"], "Mask": variables["mask"]})
    stats = {n: block.create_parameter(n, [3], "float32") for n in ("scale", "bias", "moving_mean", "moving_var")}
    block.append_op(
        "batch_norm",
        {
            "X": variables["out"],
            "Scale": stats["scale"],
            "Bias": stats["bias"],
            "Mean": stats["moving_mean"],
            "Variance": stats["moving_var"],
        },
        {
            "Y": variables["y"],
            "SavedMean": variables["mean"],
            "SavedVariance": variables["var"],
            "ReserveSpace": variables["reserve"],
            "MeanOut": stats["moving_mean"],
            "VarianceOut": stats["moving_var"],
        },
    )
    test = program.clone(for_test=True)
    verify(test)
    assert [o.attr("is_test") for o in test.global_block().ops] == [True, True]
    assert [o.attr("is_test") for o in program.global_block().ops] == [False, False]
    assert "ReserveSpace" in block.ops[1].output_names
    assert "ReserveSpace" not in test.global_block().ops[1].output_names


def test_gradients_can_be_built_on_a_copy_by_the_loss_name(loss: Variable) -> None:
    program = loss.block.program
    exe = paddle.static.Executor()
    exe.run(paddle.static.default_startup_program())
    feed = {"x": np.ones((2, 3), "float32")}
    for copy in (program.clone(), program.clone(for_test=True)):
        twin = copy.global_block().var(loss.name)
        assert twin.op.type == "reduce_mean"
        pairs = paddle.static.append_backward(twin)
        assert [p.name for p, _ in pairs] == ["a.b_0", "a.w_0", "b.b_0", "b.w_0"]
        names = [g.name for _, g in pairs]
        for a, b in zip(
            exe.run(copy, feed=feed, fetch_list=names), exe.run(program, feed=feed, fetch_list=names), strict=True
        ):
            np.testing.assert_array_equal(a, b)


def test_a_copy_of_blocks_keeps_their_relations() -> None:
    program = Program()
    inner = Block(program, 1, 0)
    inner.backward_block_idx = 1
    program.blocks.append(inner)
    x = program.global_block().create_var("x", [2])
    inner.append_op("relu", {"X": x}, {"Out": inner.create_var("y", [2])})
    copy = program.clone()
    verify(copy)
    assert (copy.block(1).parent_idx, copy.block(1).backward_block_idx) == (0, 1)
    assert copy.block(1).ops[0].inputs[0] is copy.global_block().var("x")
