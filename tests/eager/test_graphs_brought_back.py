"""Graphs that backward freed, brought back for a question and freed again after it."""

from __future__ import annotations

from typing import Any

import pytest

from gradtool import paddle
from gradtool.engine.eager.recorded_calls import nodes_behind
from gradtool.engine.eager.tape import FreedGraphError, as_they_were, keep_graphs, restore

pytestmark = pytest.mark.usefixtures("dynamic")


class Cube(paddle.autograd.PyLayer):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        return x * x * x

    @staticmethod
    def backward(ctx: Any, dy: Any) -> Any:
        (x,) = ctx.saved_tensor()
        return 3 * x * x * dy


def test_what_was_freed_is_free_afterwards_and_can_come_back_again() -> None:
    w = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
    with keep_graphs():
        loss = (Cube.apply(w) * w).sum()
        loss.backward()
    nodes = nodes_behind([loss])
    for _ in range(2):
        with as_they_were(nodes):
            assert restore(nodes)
            (gradient,) = paddle.grad(loss, w, retain_graph=True)
            assert gradient.tolist() == [4.0, 32.0]
        with pytest.raises(FreedGraphError, match="a second time"):
            loss.backward()


def test_what_was_not_freed_stays() -> None:
    w = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
    loss = (w * w).sum()
    with as_they_were(nodes_behind([loss])):
        assert not restore(nodes_behind([loss]))
    loss.backward()
    assert w.grad.tolist() == [2.0, 4.0]


def test_what_was_computed_again_is_as_it_was_before_the_step() -> None:
    layer = paddle.nn.Linear(2, 2)
    head = paddle.nn.Linear(2, 1)
    optimizer = paddle.optimizer.Adam(0.1, parameters=[*layer.parameters(), *head.parameters()])
    inner = paddle.autograd.recompute
    with keep_graphs():
        cube = inner(lambda x: Cube.apply(inner(layer, x)), paddle.to_tensor([[1.0, 2.0]], stop_gradient=False))
        loss = head(cube).sum()
        loss.backward()
        before = layer.weight.grad.numpy()
        optimizer.step()
    nodes = nodes_behind([loss])
    with as_they_were(nodes):
        assert restore(nodes)
        for _ in range(2):
            (gradient,) = paddle.grad(loss, layer.weight, retain_graph=True)
            assert (gradient.numpy() == before).all()


def test_a_step_between_two_passes_through_recompute_is_refused_all_the_same() -> None:
    inner = paddle.nn.Linear(2, 2)
    optimizer = paddle.optimizer.SGD(0.5, parameters=inner.parameters())
    x = paddle.to_tensor([[1.0, -2.0]], stop_gradient=False)
    with keep_graphs():
        loss = paddle.autograd.recompute(inner, x).square().sum()
        loss.backward(retain_graph=True)
        optimizer.step()
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            loss.backward()


def test_what_was_overwritten_in_a_kept_graph_comes_back() -> None:
    net = paddle.nn.Sequential(paddle.nn.Linear(3, 4), paddle.nn.Tanh(), paddle.nn.Linear(4, 1))
    x = paddle.to_tensor([[1.0, 2.0, 3.0]])
    with keep_graphs():
        loss = net(x).square().mean()
        loss.backward(retain_graph=True)
    expected = [p.grad.tolist() for p in net.parameters()]
    for p in net.parameters():
        p.set_value(p * 3)
    nodes = nodes_behind([loss])
    assert restore(nodes)
    assert [g.tolist() for g in paddle.grad(loss, net.parameters())] == expected
