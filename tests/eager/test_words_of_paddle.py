"""Errors contain the words of Paddle's messages that existing code looks for, and are of its classes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from gradtool import paddle
from gradtool.engine.core.errors import message
from gradtool.engine.eager.recompute import recompute

pytestmark = pytest.mark.usefixtures("dynamic")


def leaf(*shape: int) -> Any:
    x = paddle.ones(list(shape))
    x.stop_gradient = False
    return x


def written_before_backward() -> None:
    y = leaf(2) * 2
    z = (y * y).sum()
    y[0] = 0.0
    z.backward()


def written_before_recompute() -> None:
    y = leaf(2) * 2
    z = recompute(lambda v: v * v, y).sum()
    y.add_(paddle.ones([2]))
    z.backward()


def twice() -> None:
    y = leaf(2).square().sum()
    y.backward()
    y.backward()


class Forwards(paddle.autograd.PyLayer):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        return x * 2


class Backwards(paddle.autograd.PyLayer):
    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        return g


class Twice(Forwards):
    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        return g, g


CALLS: dict[Callable[[], Any], tuple[type[Exception], str]] = {
    written_before_backward: (RuntimeError, "received tensor_version:1 != wrapper_version_snapshot:0."),
    written_before_recompute: (RuntimeError, "received tensor_version:1 != wrapper_version_snapshot:0."),
    twice: (SystemError, "Please set retain_graph=True in the first backward/grad call."),
    lambda: leaf(2).add_(paddle.ones([2])): (ValueError, "(InvalidArgument) Leaf Var"),
    lambda: paddle.grad((leaf(2) * 2).sum(), leaf(2)): (ValueError, "set allow_unused=True to get None result."),
    lambda: paddle.matmul(paddle.ones([2, 3]), paddle.ones([2, 3])): (ValueError, "(InvalidArgument)"),
    lambda: paddle.ones([2, 3]) + paddle.ones([4]): (ValueError, "(InvalidArgument)"),
    lambda: paddle.ones([2])[5]: (IndexError, "(OutOfRange)"),
    lambda: paddle.gather(paddle.ones([2]), paddle.to_tensor([5])): (IndexError, "(OutOfRange)"),
    lambda: Forwards.apply(leaf(2)).sum().backward(): (
        OSError,
        "You must implement the backward function for PyLayer.",
    ),
    lambda: Backwards.apply(leaf(2)): (NotImplementedError, "You must implement the forward function for PyLayer."),
    lambda: Twice.apply(leaf(2)).sum().backward(): (ValueError, "(InvalidArgument)"),
    lambda: paddle.ones([2]).set_value(paddle.ones([3])): (AssertionError, "Variable Shape not match"),
    lambda: bool(paddle.ones([2])): (AssertionError, "Variable can only contain one element."),
    lambda: float(paddle.ones([2])): (AssertionError, "only one element variable can be converted to float."),
    lambda: paddle.ones([2]).item(): (ValueError, "only one element tensors can be converted to Python scalars"),
}


@pytest.mark.parametrize("call", CALLS)
def test_code_finds_paddle_s_words_and_people_read_ours(call: Callable[[], Any]) -> None:
    kind, words = CALLS[call]
    with pytest.raises(kind) as caught:
        call()
    ours, _, theirs = str(caught.value).rpartition("\n  paddle ")
    assert words in theirs
    assert ours == message(caught.value)
