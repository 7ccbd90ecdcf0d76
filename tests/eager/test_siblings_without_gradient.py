"""An output that no gradient arrives at, beside one that gets one: zeros are kept, and zeros go to its hooks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from gradtool import paddle
from gradtool.paddle.autograd import PyLayer

pytestmark = pytest.mark.usefixtures("dynamic")


SEVERAL: dict[str, Callable[[Any], Any]] = {
    "split": lambda x: paddle.split(x, 2, axis=1),
    "chunk": lambda x: paddle.chunk(x, 2, axis=1),
    "tensor_split": lambda x: paddle.tensor_split(x, 2, axis=1),
    "unbind": lambda x: paddle.unbind(x, axis=0),
    "unstack": lambda x: paddle.unstack(x),
    "meshgrid": lambda x: paddle.meshgrid(x[0], x[1]),
    "broadcast_tensors": lambda x: paddle.broadcast_tensors([x, x[0]]),
    "LSTM": lambda x: paddle.nn.LSTM(4, 2)(x.unsqueeze(0))[1],
}


@pytest.mark.parametrize("name", SEVERAL)
@pytest.mark.parametrize("reached", [0, -1])
def test_a_sibling_keeps_zeros(name: str, reached: int) -> None:
    x = paddle.to_tensor([[3.0, 1.0, 2.0, 4.0], [1.0, 5.0, 2.0, 0.5]], stop_gradient=False)
    outs = list(SEVERAL[name](x * 1.0))
    arrived: dict[int, Any] = {}
    for i, out in enumerate(outs):
        out.retain_grads()
        out.register_hook(lambda g, i=i: arrived.__setitem__(i, g.tolist()))
    outs[reached].sum().backward()
    of_one_call = {i for i, out in enumerate(outs) if out.node is outs[reached].node}
    assert len(of_one_call) > 1
    for i in of_one_call:
        like = paddle.ones_like if outs[i] is outs[reached] else paddle.zeros_like
        assert outs[i].grad.tolist() == arrived[i] == like(outs[i]).tolist()


def test_what_a_hook_makes_of_zeros_flows_on() -> None:
    x = paddle.to_tensor([3.0, 1.0], stop_gradient=False)
    a, b = paddle.split(x * 1.0, 2)
    b.register_hook(lambda g: g + 5)
    a.backward()
    assert x.grad.tolist() == [1.0, 5.0]  # as in Paddle


def test_nothing_is_kept_where_no_sibling_was_reached() -> None:
    x = paddle.to_tensor([3.0, 1.0], stop_gradient=False)
    _, b = paddle.split(x * 1.0, 2)
    b.retain_grads()
    (x * 2).sum().backward()
    assert b.grad is None


def test_zeros_are_added_to_what_was_kept_before() -> None:
    x = paddle.to_tensor([3.0, 1.0], stop_gradient=False)
    a, b = paddle.split(x * 1.0, 2)
    b.retain_grads()
    a.backward(retain_graph=True)
    b.backward()
    assert (b.grad.tolist(), x.grad.tolist()) == ([1.0], [1.0, 1.0])


@pytest.mark.parametrize("materialize", [True, False])
def test_a_layer_with_two_outputs(materialize: bool) -> None:
    class Two(PyLayer):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.set_materialize_grads(materialize)
            return x * 2, x * 3

        @staticmethod
        def backward(ctx: Any, a: Any, b: Any) -> Any:
            assert (b is None) is not materialize
            return a * 2

    x = paddle.to_tensor([3.0, 1.0], stop_gradient=False)
    a, b = Two.apply(x)
    b.retain_grads()
    a.sum().backward()
    assert x.grad.tolist() == [2.0, 2.0]
    # What its backward gets is what is kept. (Paddle keeps None in both cases.)
    assert (b.grad.tolist() if materialize else b.grad) == ([0.0, 0.0] if materialize else None)
