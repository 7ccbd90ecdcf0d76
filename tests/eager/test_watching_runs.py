"""Step events of dynamic mode, and of programs that others run."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradtool import paddle
from gradtool.engine.core import watch
from gradtool.engine.eager.passes import Pass
from gradtool.engine.executor.plan import Step

pytestmark = pytest.mark.usefixtures("dynamic")


def leaf(values: list[float]) -> Any:
    return paddle.to_tensor(values, stop_gradient=False)


def test_calls_and_gradients_are_told_in_order() -> None:
    seen: list[Any] = []
    x = leaf([1.0, 2.0])
    with watch.watch(seen.append):
        y = paddle.exp(x * x).sum()
        y.backward()
    assert [type(e).__name__ for e in seen] == ["Computed"] * 3 + ["Began"] + ["Pulled"] * 3 + ["Ended"]
    calls = [e for e in seen if isinstance(e, watch.Computed)]
    assert [e.op.type for e in calls] == ["elementwise_mul", "exp", "reduce_sum"]
    assert calls[0].outputs[0].tolist() == [1.0, 4.0]
    pulled = [e for e in seen if isinstance(e, watch.Pulled)]
    assert [e.node.op.type for e in pulled] == ["reduce_sum", "exp", "elementwise_mul"]
    assert [e.node.key for e in pulled] == [e.key for e in calls[::-1]]
    np.testing.assert_allclose(pulled[1].gradients[0], np.exp([1.0, 4.0]), rtol=1e-6)
    assert seen[3].roots == (y,)


def test_nobody_is_told_before_and_after() -> None:
    seen: list[Any] = []
    x = leaf([1.0])
    kernel = paddle.tanh(x).node.call.kernel
    with watch.watch(seen.append), watch.pause_watchers():
        paddle.tanh(x).backward()
    paddle.tanh(x).backward()
    assert seen == []
    assert type(paddle.tanh(x).node.call.kernel) is type(kernel)
    assert not watch.is_watched()


def test_watchers_that_come_and_go_leave_a_call_alone_that_nobody_computes() -> None:
    """A process may remember many thousands of calls."""
    x = leaf([1.0])
    y = paddle.tanh(x)
    call = y.node.call
    with watch.watch(lambda event: None):
        late, gradients = call.kernel, call.gradients
    with watch.watch(lambda event: None):
        assert call.kernel is late
        assert call.gradients is gradients
        y.backward()  # which chooses a gradient kernel, and no other
        assert call.kernel is late
        assert len(call.gradients) == 1
    assert not call.gradients


def test_a_call_without_gradient_is_told_too() -> None:
    seen: list[Any] = []
    with watch.watch(seen.append), paddle.no_grad():
        paddle.tanh(leaf([1.0]))
    [event] = seen
    assert event.op.type == "tanh"


def test_stepping_through_a_pass() -> None:
    x = leaf([1.0, 2.0])
    y = paddle.tanh(paddle.exp(x)).sum()
    work = Pass(retain_graph=True)
    work.seed(y, None)
    types = []
    for event in work.steps():
        types.append(event.node.op.type)
        assert bool(work.leaves) == (event.node.op.type == "exp")
    assert types == ["reduce_sum", "tanh", "exp"]
    y.backward()
    np.testing.assert_array_equal(work.total(x.leaf), x.grad.numpy())


def test_a_pass_that_fails_ends() -> None:
    seen: list[Any] = []

    def refuse(gradient: Any) -> Any:
        raise RuntimeError("no")

    x = leaf([1.0])
    y = x * 2.0
    y.register_hook(refuse)
    with watch.watch(seen.append), pytest.raises(RuntimeError):
        (y * y).backward()
    assert isinstance(seen[-1], watch.Ended)


def test_a_program_that_someone_runs() -> None:
    paddle.enable_static()
    try:
        main = paddle.static.Program()
        with paddle.static.program_guard(main):
            x = paddle.static.data("x", [2])
            y = paddle.exp(x) + paddle.full([2], 1.0)
        seen: list[Any] = []
        exe = paddle.static.Executor()
        feed = {"x": np.zeros(2, "float32")}
        with watch.watch(seen.append):
            watched = exe.run(main, feed=feed, fetch_list=[y])
        plain = exe.run(main, feed=feed, fetch_list=[y])
    finally:
        paddle.disable_static()
    assert all(isinstance(e, Step) for e in seen)
    assert [e.op.type for e in seen] == ["exp", "fill_constant", "elementwise_add"]
    np.testing.assert_array_equal(watched[0], plain[0])
