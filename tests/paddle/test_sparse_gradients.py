"""Look-ups with sparse gradients: the values of dense ones, in programs and in dynamic mode, without a dense table."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gradtool import paddle
from gradtool.engine.core.rows import SelectedRows

IDS = [[1, 3, 1, 5], [0, 3, 3, 2]]
HEIGHT, WIDTH = 8, 3
START = np.linspace(-1, 1, HEIGHT * WIDTH, dtype="float32").reshape(HEIGHT, WIDTH)

Make = Callable[..., Any]
O, N = paddle.optimizer, paddle.nn  # noqa: E741
OPTIMIZERS: dict[str, Make] = {
    "sgd": lambda **kw: O.SGD(0.1, **kw),
    "sgd clipped by value": lambda **kw: O.SGD(0.1, grad_clip=N.ClipGradByValue(0.3), **kw),
    "sgd clipped by norm": lambda **kw: O.SGD(0.1, grad_clip=N.ClipGradByNorm(0.5), **kw),
    "sgd clipped together": lambda **kw: O.SGD(0.1, grad_clip=N.ClipGradByGlobalNorm(0.5), **kw),
    "momentum": lambda **kw: O.Momentum(0.1, **kw),
    "adagrad": lambda **kw: O.Adagrad(0.1, **kw),
    "adam": lambda **kw: O.Adam(0.1, **kw),
    "adamw": lambda **kw: O.AdamW(0.1, **kw),
    "rmsprop": lambda **kw: O.RMSProp(0.1, **kw),
    "sgd with decay": lambda **kw: O.SGD(0.1, weight_decay=0.1, **kw),
    "sgd with L1 decay": lambda **kw: O.SGD(0.1, weight_decay=paddle.regularizer.L1Decay(0.1), **kw),
}
NEVER_DENSE = [name for name in OPTIMIZERS if "decay" not in name and name != "rmsprop"]
"""Decay and the root of a mean square are about every row."""


def attr() -> Any:
    return paddle.ParamAttr(name="table", initializer=N.initializer.Assign(START))


def trained_in_a_program(make: Make, sparse: bool) -> Any:
    paddle.enable_static()
    main, startup = paddle.static.Program(), paddle.static.Program()
    with paddle.static.program_guard(main, startup):
        ids = paddle.static.data("ids", [4], "int64")
        rows = paddle.static.nn.embedding(ids, [HEIGHT, WIDTH], is_sparse=sparse, padding_idx=2, param_attr=attr())
        again = paddle.static.nn.embedding(ids, [HEIGHT, WIDTH], is_sparse=sparse, padding_idx=2, param_attr=attr())
        loss = (rows * rows).mean() + again.sum()
        make().minimize(loss)
    scope = paddle.static.Scope()
    with paddle.static.scope_guard(scope):
        exe = paddle.static.Executor()
        exe.run(startup)
        for step in IDS:
            exe.run(main, feed={"ids": np.array(step)})
        return np.array(scope.find_var("table").get_tensor())


def trained_dynamically(make: Make, sparse: bool) -> Any:
    paddle.disable_static()
    layer = N.Embedding(HEIGHT, WIDTH, padding_idx=2, sparse=sparse, weight_attr=attr())
    layer.weight.set_value(START)
    optimizer = make(parameters=layer.parameters())
    for step in IDS:
        rows, again = layer(paddle.to_tensor(step)), layer(paddle.to_tensor(step))
        ((rows * rows).mean() + again.sum()).backward()
        assert layer.weight.grad.is_selected_rows() is sparse
        optimizer.step()
        optimizer.clear_grad()
    return layer.weight.numpy()


@pytest.mark.parametrize("name", OPTIMIZERS)
@pytest.mark.parametrize("train", [trained_in_a_program, trained_dynamically])
def test_sparse_and_dense_gradients_train_alike(
    name: str, train: Callable[[Make, bool], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    dense = train(OPTIMIZERS[name], False)

    def refuse(self: SelectedRows) -> Any:
        raise AssertionError("a gradient of selected rows became a dense table")

    if name in NEVER_DENSE:
        monkeypatch.setattr(SelectedRows, "dense", refuse)
    np.testing.assert_allclose(train(OPTIMIZERS[name], True), dense, rtol=1e-5, atol=1e-7)
    assert not np.array_equal(dense, START)


def test_lazy_adam_leaves_other_rows_as_they_are() -> None:
    def make(**kw: Any) -> Any:
        return O.Adam(0.1, lazy_mode=True, **kw)

    program, dynamic = trained_in_a_program(make, True), trained_dynamically(make, True)
    np.testing.assert_allclose(program, dynamic, rtol=1e-6)
    every = trained_dynamically(OPTIMIZERS["adam"], True)
    touched_once = [0, 1, 5]
    assert not np.allclose(program[touched_once[1:]], every[touched_once[1:]], rtol=1e-6)  # their moments decay no more
    np.testing.assert_array_equal(program[[4, 6, 7]], START[[4, 6, 7]])
    # Row 3 was looked up in both steps, so lazy or not makes no difference to it.
    np.testing.assert_allclose(program[3], every[3], rtol=1e-5)


# -- programs ---------------------------------------------------------------------------------------------------------


def program_with(**optimizer: Any) -> tuple[Any, Any, Any]:
    paddle.enable_static()
    main, startup = paddle.static.Program(), paddle.static.Program()
    with paddle.static.program_guard(main, startup):
        ids = paddle.static.data("ids", [4], "int64")
        rows = paddle.static.nn.embedding(ids, [HEIGHT, WIDTH], is_sparse=True, param_attr=attr())
        loss = rows.sum()
        O.SGD(0.5, **optimizer).minimize(loss)
    return main, startup, loss


def test_the_program_says_which_gradients_are_selected_rows() -> None:
    paddle.enable_static()
    main = paddle.static.Program()
    with paddle.static.program_guard(main, paddle.static.Program()):
        ids = paddle.static.data("ids", [4], "int64")
        one = paddle.static.nn.embedding(ids, [HEIGHT, WIDTH], is_sparse=True, param_attr=attr())
        two = paddle.static.nn.embedding(ids, [HEIGHT, WIDTH], is_sparse=True, param_attr=attr())
        table = main.global_block().var("table")
        paddle.static.append_backward(one.sum() + two.sum())
        mixed = paddle.static.gradients([one.sum() + table.sum()], [table])
    kinds = {v.name: v.type for v in main.list_vars() if v.name.startswith("table@GRAD")}
    assert set(kinds.values()) == {"SELECTED_ROWS"}
    assert len(kinds) == 3
    assert mixed[0].type == "DENSE_TENSOR"
    assert "table@GRAD : SELECTED_ROWS.shape(8, 3)" in str(main)


def test_norms_and_decay_are_written_as_paddle_writes_them() -> None:
    main, *_ = program_with(grad_clip=N.ClipGradByGlobalNorm(1.0))
    types = [op.type for op in main.global_block().ops]
    at = types.index("merge_selected_rows")
    assert types[at : at + 3] == ["merge_selected_rows", "get_tensor_from_selected_rows", "squared_l2_norm"]
    main, *_ = program_with(weight_decay=0.1)
    gradient = main.global_block().var("table@GRAD@NEWGRAD@")
    assert (gradient.type, gradient.op.type) == ("DENSE_TENSOR", "sum")
    assert main.global_block().ops[-1].input("Grad") == ["table@GRAD@NEWGRAD@"]


def test_a_fetched_gradient_is_dense_and_fetched_values_stay() -> None:
    main, startup, _ = program_with()
    with paddle.static.scope_guard(paddle.static.Scope()):
        exe = paddle.static.Executor()
        exe.run(startup)
        before, grad = exe.run(main, feed={"ids": np.array(IDS[0])}, fetch_list=["table", "table@GRAD"])
        assert grad[:, 0].tolist() == [0, 2, 0, 1, 0, 1, 0, 0]
        copy = before.copy()
        (after,) = exe.run(main, feed={"ids": np.array(IDS[0])}, fetch_list=["table"])
        np.testing.assert_array_equal(before, copy)
        np.testing.assert_allclose(after, before - 0.5 * grad, rtol=1e-6)


def test_rows_are_written_in_place_and_nothing_else_changes_with_them() -> None:
    main, startup, _ = program_with()
    with paddle.static.program_guard(main, startup):
        block = main.global_block()
        copy = paddle.static.create_global_var([HEIGHT, WIDTH], 0.0, "float32", persistable=True, name="copy")
        paddle.assign(block.var("table"), output=copy)
    feed = {"ids": np.array(IDS[0])}
    with paddle.static.scope_guard(paddle.static.Scope()):
        values = paddle.static.global_scope().values
        exe = paddle.static.Executor()
        plain, plain_startup, _ = program_with()
        exe.run(plain_startup)
        exe.run(startup)
        exe.run(main, feed=feed)
        exe.run(main, feed=feed)
        np.testing.assert_array_equal(values["copy"], values["table"])
        seen = values["copy"].copy()
        exe.run(plain, feed=feed)
        exe.run(plain, feed=feed)
        assert not np.array_equal(values["table"], seen)
        np.testing.assert_array_equal(values["copy"], seen)
        assert values["table"] is not values["copy"]
        memory = values["table"]
        exe.run(plain, feed=feed)
        assert values["table"] is memory


def test_second_order_reaches_through_a_sparse_look_up() -> None:
    paddle.enable_static()
    main, startup = paddle.static.Program(), paddle.static.Program()
    with paddle.static.program_guard(main, startup):
        ids = paddle.static.data("ids", [4], "int64")
        rows = paddle.static.nn.embedding(ids, [HEIGHT, WIDTH], is_sparse=True, param_attr=attr())
        table = main.global_block().var("table")
        (first,) = paddle.static.gradients([(rows * rows * rows).sum()], [table])
        (second,) = paddle.static.gradients([(first * first).sum()], [table])
    with paddle.static.scope_guard(paddle.static.Scope()):
        exe = paddle.static.Executor()
        exe.run(startup)
        (result,) = exe.run(main, feed={"ids": np.array(IDS[0])}, fetch_list=[second])
    counts = np.bincount(IDS[0], minlength=HEIGHT)[:, None]
    np.testing.assert_allclose(result, 36 * counts**2 * START**3, rtol=1e-5, atol=1e-6)


# -- dynamic mode -----------------------------------------------------------------------------------------------------


def layer() -> Any:
    paddle.disable_static()
    table = N.Embedding(HEIGHT, WIDTH, sparse=True, weight_attr=attr())
    table.weight.set_value(START)
    return table


def test_a_sparse_gradient_shows_its_rows() -> None:
    one = layer()
    one(paddle.to_tensor([1, 3, 1])).sum().backward()
    grad = one.weight.grad
    assert (grad.shape, grad.is_selected_rows(), grad.is_dense(), grad.rows) == ([8, 3], True, False, [1, 3, 1])
    assert "stop_gradient=False, rows=[1, 3, 1],\n       [[1., 1., 1.]," in repr(grad)
    assert grad.numpy()[:, 0].tolist() == [0, 2, 0, 1, 0, 0, 0, 0]
    assert one.weight.gradient().shape == (8, 3)
    assert (grad * 2.0).sum().item() == 18.0
    with pytest.raises(ValueError, match="has no rows"):
        _ = one.weight.rows


def test_gradients_of_several_passes_add_up_and_clear() -> None:
    one = layer()
    for ids in ([1, 3], [3, 5]):
        one(paddle.to_tensor(ids)).sum().backward()
    assert one.weight.grad.rows == [1, 3, 3, 5]
    (one.weight * 2.0).sum().backward()
    assert not one.weight.grad.is_selected_rows()
    assert one.weight.grad.numpy()[:, 0].tolist() == [2, 3, 2, 4, 2, 3, 2, 2]
    one.weight.clear_grad()
    one(paddle.to_tensor([4])).sum().backward()
    one.weight.clear_grad()
    assert one.weight.grad is None  # as in Paddle 3.3.1, which keeps zeros of dense gradients alone
    one(paddle.to_tensor([4])).sum().backward()
    assert one.weight.grad.numpy()[:, 0].tolist() == [0, 0, 0, 0, 1, 0, 0, 0]


def test_hooks_and_grad_take_sparse_gradients() -> None:
    one = layer()
    seen: list[Any] = []
    one.weight.register_hook(lambda g: seen.append(g.is_selected_rows()) or g * 3.0)
    one(paddle.to_tensor([1, 3])).sum().backward()
    assert seen == [True]
    assert one.weight.grad.rows == [1, 3]
    assert one.weight.grad.numpy().sum() == 18.0
    (gradient,) = paddle.grad(one(paddle.to_tensor([0, 0])).sum(), one.weight)
    assert gradient.rows == [0, 0]
    (again,) = paddle.grad((one(paddle.to_tensor([2])) ** 2).sum(), one.weight, create_graph=True)
    assert not again.is_selected_rows()  # what is differentiated again is dense
    (second,) = paddle.grad(again.sum(), one.weight)
    assert second.numpy()[:, 0].tolist() == [0, 0, 2, 0, 0, 0, 0, 0]


def test_an_update_writes_rows_in_place_and_counts_as_a_write() -> None:
    one = layer()
    optimizer = O.SGD(0.5, parameters=one.parameters())
    one(paddle.to_tensor([1, 3])).sum().backward()
    memory, version = one.weight.array, one.weight.inplace_version
    optimizer.step()
    assert one.weight.array is memory
    assert one.weight.inplace_version == version + 1
    np.testing.assert_allclose(one.weight.numpy()[[1, 3]], START[[1, 3]] - 0.5)
