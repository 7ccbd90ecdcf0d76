"""Gradients of look-ups in large tables: added up as rows, with the values of tables that are added."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradtool import paddle
from gradtool.engine.core.rows import RowSum
from gradtool.engine.eager import embedding_gradients

pytestmark = pytest.mark.usefixtures("dynamic")

ROWS, COLUMNS = 40, 3


@pytest.fixture(autouse=True)
def small_tables_count_as_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedding_gradients, "LARGE", 1)


def table() -> Any:
    value = np.random.default_rng(1).normal(size=(ROWS, COLUMNS)).astype("float32")
    return paddle.create_parameter(
        [ROWS, COLUMNS], "float32", name="w", default_initializer=paddle.nn.initializer.Assign(value)
    )


def loss(w: Any, padding: int | None = None) -> Any:
    """Of three look-ups, the second and third with ids that come twice, the third of a reshaped tensor."""
    F = paddle.nn.functional
    ids = [[7, 2, 30], [2, 9, 2, 7], [[5, 2], [5, 5]]]
    tensors = [paddle.to_tensor(i) for i in ids]
    tensors[2] = paddle.reshape(tensors[2], [4])
    weights = np.random.default_rng(2).normal(size=(11, COLUMNS)).astype("float32")
    looked = paddle.concat([F.embedding(t, w, padding_idx=padding) for t in tensors], 0)
    return (looked * looked * paddle.to_tensor(weights)).sum()


def by_tables(monkeypatch: pytest.MonkeyPatch, of: Any) -> Any:
    """The gradient that *of* gives a table where every look-up makes one."""
    with monkeypatch.context() as patch:
        patch.setattr(embedding_gradients, "LARGE", 10**9)
        w = table()
        of(w).backward()
        return w.grad.numpy()


def test_rows_are_taken() -> None:
    w = table()
    taken: list[Any] = []
    add, dense = RowSum.add_to, RowSum.dense
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(RowSum, "dense", lambda self: taken.append("table") or dense(self))
        patch.setattr(RowSum, "add_to", lambda self, table: taken.append("rows") or add(self, table))
        for _ in range(2):
            loss(w).backward()
            w.clear_gradient()
        loss(w).backward()
        loss(w).backward()  # added to what is there
    assert taken == ["table", "rows", "rows", "rows", "table", "rows"]


@pytest.mark.parametrize("padding", [None, 2])
def test_the_values_are_those_of_tables(monkeypatch: pytest.MonkeyPatch, padding: int | None) -> None:
    expected = by_tables(monkeypatch, lambda w: loss(w, padding))
    w = table()
    for _ in range(3):
        loss(w, padding).backward()
        np.testing.assert_array_equal(w.grad.numpy(), expected)
        w.clear_gradient()


def test_beside_other_uses_of_the_table(monkeypatch: pytest.MonkeyPatch) -> None:
    x = paddle.to_tensor(np.random.default_rng(5).normal(size=(2, COLUMNS)).astype("float32"))
    for of in (lambda w: loss(w) + paddle.matmul(x, w, transpose_y=True).sum(), lambda w: w.sum() + loss(w) + loss(w)):
        expected = by_tables(monkeypatch, of)
        w = table()
        of(w).backward()
        np.testing.assert_array_equal(w.grad.numpy(), expected)
        of(w).backward()
        np.testing.assert_array_equal(w.grad.numpy(), expected + expected)


def test_whoever_holds_the_cleared_gradient_keeps_zeros() -> None:
    w = table()
    loss(w).backward()
    held, shared = w.grad, w.grad.detach()
    w.clear_gradient()
    loss(w).backward()
    assert not held.numpy().any()
    assert not shared.numpy().any()
    assert w.grad.numpy().any()


def write(gradient: Any, how: str) -> None:
    if how == "in place":
        gradient[11] = 5.0
    else:
        np.from_dlpack(gradient)[11] = 5.0


@pytest.mark.parametrize("how", ["in place", "lent"])
def test_a_gradient_that_others_wrote_is_cleared_as_a_whole(how: str) -> None:
    w = table()
    loss(w).backward()
    expected = w.grad.numpy()
    write(w.grad.detach(), how)
    w.clear_gradient()
    assert not w.grad.numpy().any()
    write(w.grad.detach(), how)
    loss(w).backward()
    np.testing.assert_array_equal(w.grad.numpy(), expected)


def test_hooks_and_functions_get_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    expected = by_tables(monkeypatch, loss)
    w = table()
    seen: list[Any] = []
    w.register_hook(lambda g: seen.append(g.numpy()))
    loss(w).backward()
    (given,) = paddle.grad(loss(w), w)
    for values in (seen[0], w.grad.numpy(), given.numpy()):
        np.testing.assert_array_equal(values, expected)
    twice = w * 2.0
    (through,) = paddle.grad(loss(twice), w)
    np.testing.assert_allclose(through.numpy(), expected * 4)
