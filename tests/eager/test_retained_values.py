"""What waits for backward: in-place edits are noticed, hooks may pack it, deep graphs and threads do no harm."""

from __future__ import annotations

import gc
import threading
import weakref
from typing import Any

import numpy as np
import pytest

from gradtool import paddle
from gradtool.engine.core.errors import GradientError

pytestmark = pytest.mark.usefixtures("dynamic")


def leaf(*values: float) -> Any:
    return paddle.to_tensor(list(values), stop_gradient=False)


# -- in-place edits ---------------------------------------------------------------------------------------------------


def test_an_edited_input_names_writer_and_reader_with_their_lines() -> None:
    h = leaf(1.0, 2.0) * 2.0
    y = h * h  # the reader
    h.add_(paddle.ones([2]))  # the writer
    with pytest.raises(RuntimeError, match="version is 1 but the expected version is 0") as caught:
        y.backward()
    text = str(caught.value)
    assert "elementwise_mul" in text
    assert "add_" in text
    assert "# the reader" in text
    assert "# the writer" in text


def test_an_edited_output_is_noticed() -> None:
    y = leaf(1.0, 2.0).exp()
    z = y * 1.0
    y.add_(paddle.ones([2]))
    with pytest.raises(RuntimeError, match="gradient of exp"):
        z.backward()


def test_an_edit_through_a_view_or_a_detached_tensor_is_noticed() -> None:
    for share in (lambda t: t.detach(), lambda t: t.detach().reshape([2, 1])):
        h = leaf(1.0, 2.0) * 2.0
        y = h * h
        share(h).fill_(0.0)
        with pytest.raises(RuntimeError, match="inplace operation"):
            y.backward()


def test_an_edit_of_what_nobody_needs_is_fine() -> None:
    x = leaf(1.0, 2.0)
    h = x * 2.0
    y = h + 1.0
    h.fill_(0.0)
    y.backward()
    assert x.grad.tolist() == [2.0, 2.0]


def test_an_in_place_operator_moves_its_tensor_on_the_tape() -> None:
    x = leaf(1.0, 2.0)
    y = x * 2.0
    y.exp_()
    y.backward()
    np.testing.assert_allclose(x.grad.numpy(), 2 * np.exp([2.0, 4.0]), rtol=1e-6)


def test_a_cleared_gradient_that_a_graph_needs_is_noticed() -> None:
    x, w = leaf(1.0, 2.0), leaf(3.0, 4.0)
    (x * x).backward()
    y = x.grad * w * w
    x.clear_grad()
    with pytest.raises(RuntimeError, match="clear_gradient"):
        y.backward()


# -- saved_tensors_hooks ----------------------------------------------------------------------------------------------


def test_hooks_see_every_retained_value() -> None:
    x = leaf(1.0, 2.0)
    packed: list[Any] = []

    def pack(t: Any) -> Any:
        packed.append(t.tolist())
        return t.numpy()

    with paddle.autograd.saved_tensors_hooks(pack, paddle.to_tensor):
        y = (x * x).tanh()
    y.backward()
    assert packed == [[1.0, 2.0], [1.0, 2.0], y.tolist()]
    np.testing.assert_allclose(x.grad.numpy(), 2 * np.array([1.0, 2.0]) * (1 - np.tanh([1.0, 4.0]) ** 2), atol=1e-5)


def test_second_order_through_packed_values() -> None:
    x = leaf(0.5, 1.0)
    with paddle.autograd.saved_tensors_hooks(lambda t: t.numpy(), paddle.to_tensor):
        y = x * x * x
        z = y.tanh()
    (g,) = paddle.grad(z, x, create_graph=True)
    (h,) = paddle.grad(g, x)
    v = np.array([0.5, 1.0])
    t = np.tanh(v**3)
    np.testing.assert_allclose(h.numpy(), (1 - t * t) * (6 * v - 18 * v**4 * t), rtol=1e-5)


def test_unpack_must_give_back_what_was_packed() -> None:
    x = leaf(1.0, 2.0)
    for wrong in (lambda v: 3, lambda v: paddle.ones([3])):
        with paddle.autograd.saved_tensors_hooks(lambda t: t.numpy(), wrong):
            y = x * x
        with pytest.raises(GradientError, match="unpack_hook must return the tensor of float32"):
            y.backward()
    with pytest.raises(TypeError, match="pack_hook must be a function"):
        paddle.autograd.saved_tensors_hooks(3, lambda v: v)


# -- life and death of graphs -----------------------------------------------------------------------------------------


def test_a_deep_chain_runs_back_and_is_freed() -> None:
    x = leaf(1.0)
    h = x
    for _ in range(200_000):
        h = h + x
    h.backward()
    assert x.grad.item() == 200_001.0
    node = weakref.ref(h.node)
    del h
    assert node() is None


def test_a_deep_chain_in_a_cycle_is_collected() -> None:
    x = leaf(1.0)
    h = x
    for _ in range(50_000):
        h = h * x
    holder: list[Any] = [h]
    holder.append(holder)
    node = weakref.ref(h.node)
    del h, holder
    gc.collect()
    assert node() is None


def test_backward_lets_go_of_what_was_retained() -> None:
    x = leaf(1.0, 2.0)
    h = x * 2.0
    y = h * h
    waiting = weakref.ref(h)
    del h
    y.backward()
    assert waiting() is None


# -- threads ----------------------------------------------------------------------------------------------------------


def test_threads_add_to_a_shared_leaf() -> None:
    x = paddle.to_tensor(np.ones((20, 20)), stop_gradient=False)
    failed: list[BaseException] = []

    def work() -> None:
        try:
            paddle.disable_static()
            for _ in range(50):
                (x * 2.0).backward()
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert failed == []
    assert (x.grad.numpy() == 400.0).all()


def test_grad_modes_belong_to_their_thread() -> None:
    x = leaf(1.0)
    seen: list[bool] = []

    def work() -> None:
        paddle.disable_static()
        seen.append((x * 2.0).stop_gradient)

    with paddle.no_grad():
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        assert (x * 2.0).stop_gradient
    assert seen == [False]
