"""Sparse tensors as tensors: gradients, hooks, text, and what they refuse."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradtool import paddle
from gradtool.engine.core.errors import ModeError, UnsupportedError

S = paddle.sparse
pytestmark = pytest.mark.usefixtures("dynamic")


def leaf(form: str = "coo") -> Any:
    x = S.sparse_coo_tensor([[0, 0, 1], [0, 2, 1]], [1.0, 2.0, 3.0], [2, 3])
    x = x if form == "coo" else x.to_sparse_csr()
    x.stop_gradient = False
    return x


@pytest.mark.parametrize("form", ["coo", "csr"])
def test_gradients_of_leaves_are_sparse_and_add_up(form: str) -> None:
    x = leaf(form)
    assert x.is_leaf
    for total in (1, 2):
        S.square(x).backward()
        assert x.grad.is_sparse_csr() == (form == "csr")
        assert x.grad.values().tolist() == [2.0 * total, 4.0 * total, 6.0 * total]
    x.clear_grad()
    assert x.grad.to_dense().abs().sum().item() == 0
    x.clear_gradient(False)
    assert x.grad is None
    assert x.gradient() is None


def test_gradients_flow_on_into_the_values_of_coordinates() -> None:
    values = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
    x = S.sparse_coo_tensor([[0, 2]], values * 3, [4], stop_gradient=False)
    assert not x.is_leaf
    x.to_dense().sum().backward()
    assert values.grad.tolist() == [3.0, 3.0]
    assert x.grad is None


@pytest.mark.parametrize(
    "cut",
    [
        lambda v: S.sparse_csr_tensor([0, 2], [0, 1], v, [1, 2], stop_gradient=False),
        lambda v: v.reshape([1, 2]).to_sparse_csr(),
        lambda v: S.sparse_coo_tensor([[0, 0], [0, 1]], v, [1, 2], stop_gradient=False).coalesce(),
        lambda v: S.sparse_coo_tensor([[0, 0], [0, 1]], v, [1, 2]),
    ],
)
def test_where_paddle_cuts_the_gradient_off(cut: Any) -> None:
    values = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
    loss = (cut(values * 2).to_dense() * paddle.to_tensor([1.0, 1.0], stop_gradient=False)).sum()
    loss.backward()
    assert values.grad is None


def test_hooks_and_kept_gradients() -> None:
    x = leaf()
    seen: list[Any] = []
    x.register_hook(lambda g: seen.append(g) or S.multiply(g, 10.0))
    y = S.square(x)
    y.retain_grads()
    y.to_dense().sum().backward()
    assert seen[0].is_sparse_coo()
    assert seen[0].values().tolist() == [2.0, 4.0, 6.0]
    assert x.grad.values().tolist() == [20.0, 40.0, 60.0]
    assert y.grad.values().tolist() == [1.0, 1.0, 1.0]


def test_seeds_stand_at_the_same_places_in_any_order() -> None:
    x = leaf()
    turned = S.sparse_coo_tensor([[1, 0, 0], [1, 0, 2]], [3.0, 1.0, 2.0], [2, 3])
    (gradient,) = paddle.grad(S.square(x), x, turned)
    assert gradient.values().tolist() == [2.0, 8.0, 18.0]
    other = S.sparse_coo_tensor([[1, 0, 0], [1, 0, 1]], [3.0, 1.0, 2.0], [2, 3])
    with pytest.raises(ValueError, match="other places"):
        paddle.grad(S.square(x), x, other)
    with pytest.raises(NotImplementedError, match="must be sparse"):
        S.square(x).backward(paddle.ones([2, 3]))
    with pytest.raises(AssertionError, match="shape"):
        S.square(x).backward(S.sparse_coo_tensor([[0], [0]], [1.0], [1, 1]))


def test_second_derivatives_and_unused_operands() -> None:
    x, y = leaf(), leaf()
    (first,) = paddle.grad(S.pow(x, 3), x, create_graph=True)
    (second,) = paddle.grad(first, x)
    assert second.values().tolist() == [6.0, 12.0, 18.0]
    first, none = paddle.grad(S.sin(x), [x, y], allow_unused=True)
    assert first.is_sparse()
    assert none is None


def test_values_that_are_written_in_place() -> None:
    x = leaf().detach()
    x.values().set_value(np.array([5.0, 6.0, 7.0], "float32"))
    assert x.to_dense().tolist() == [[5.0, 0.0, 6.0], [0.0, 7.0, 0.0]]
    x.set_value(S.neg(x))
    assert x.values().tolist() == [-5.0, -6.0, -7.0]


def test_results_are_not_their_operands() -> None:
    x = leaf()
    for same in (S.reshape(x, [2, 3]), S.transpose(x, [0, 1]), S.cast(x), x.clone(), S.slice(x, [0], [0], [2])):
        assert not same.is_leaf
        assert same.carrier is not x.carrier


def test_text() -> None:
    x = S.sparse_coo_tensor([[0, 1]], [1.5, -2.0], [3])
    lines = (
        "Tensor(shape=[3], dtype=float32, place=Place(cpu), stop_gradient=True,",
        "       indices=[[0, 1]],",
        "       values=[1.50000000, -2.       ])",
    )
    assert repr(x) == str(x) == f"{x}" == "\n".join(lines)
    csr = S.sparse_csr_tensor([0, 1], [0], [2])
    assert "crows=[0, 1],\n       cols=[0],\n       values=[2])" in repr(csr)
    assert isinstance(x, paddle.Tensor)
    assert paddle.is_tensor(x)
    assert (len(x), x.ndim, x.size, x.shape) == (3, 1, 3, [3])


DENSE = (
    lambda x: x + x,
    lambda x: 2 * x,
    lambda x: -x,
    lambda x: x @ x,
    lambda x: x[0],
    lambda x: x == x,
    lambda x: x > 0,
    lambda x: x.sum(),
    lambda x: x.numpy(),
    lambda x: x.tolist(),
    lambda x: np.asarray(x),
    lambda x: bool(x),
    lambda x: x.detach().zero_(),
    lambda x: x.astype("float64"),
    lambda x: paddle.matmul(x, x),
    lambda x: paddle.concat([x, x]),
    lambda x: paddle.nn.functional.relu(x),
    lambda x: paddle.nn.Linear(3, 2)(x),
    lambda x: paddle.to_tensor(x),
    lambda x: S.mv(x, x),
    lambda x: paddle.ones([2, 3]) + x,
    list,
)


@pytest.mark.parametrize("function", DENSE)
def test_functions_of_dense_tensors_refuse_sparse_ones(function: Any) -> None:
    with pytest.raises(UnsupportedError, match="sparse") as raised:
        function(leaf())
    assert "paddle.sparse" in str(raised.value) or "to_dense()" in str(raised.value)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: S.sparse_coo_tensor([[0, -1]], [1.0, 2.0], [2]), "must not be negative"),
        (lambda: S.sparse_csr_tensor([0, 1], [5], [1.0], [1, 2]), "a column must be from 0 to 1"),
        (lambda: S.sparse_csr_tensor([0, 2, 1], [0, 0], [1.0, 2.0], [2, 2]), "must not fall"),
        (lambda: S.sparse_coo_tensor([[0]], [True], [2]), "they are bool"),
        (lambda: S.sparse_coo_tensor("x", [1.0]), "must be a list, a tuple, an array or a Tensor"),
        (lambda: S.pow(leaf(), "2"), "'factor' must be a number"),
        (lambda: S.cast(leaf(), "float32"), "'index_dtype' must be one of"),
        (lambda: S.transpose(leaf(), [0, 0]), "each of the 2 dimensions once"),
        (lambda: S.reshape(leaf(), [4, 2]), "another number of elements"),
        (lambda: S.slice(leaf(), [2], [0], [1]), "the dimension 2 is outside"),
        (lambda: S.slice(leaf(), [0], [0, 1], [1]), "must have one length"),
        (lambda: S.matmul(leaf(), paddle.ones([2, 3])), "cannot be multiplied"),
        (lambda: S.matmul(leaf(), paddle.ones([3, 2], "float64")), "must be of one type"),
        (lambda: S.mask_as(paddle.ones([2, 2]), leaf()), "must have the same"),
        (lambda: S.nn.SubmConv2D(1, 1, 2)(volume()), "sizes are odd"),
        (lambda: S.nn.Conv2D(2, 1, 3)(volume()), "the 1 channels of x"),
        (lambda: S.nn.Conv3D(1, 1, 3)(volume()), "must have 5 dimensions"),
        (lambda: S.nn.functional.max_pool3d(leaf(), 2), "must have 5 dimensions"),
        (lambda: S.nn.SubmConv2D(1, 1, 3, backend="x"), "should be None or 'igemm'"),
        (lambda: S.nn.functional.softmax(leaf(), 2), "the dimension 2 is outside"),
    ],
)
def test_wrong_arguments(call: Any, text: str) -> None:
    with pytest.raises(ValueError, match=text):
        call()


def volume() -> Any:
    return S.sparse_coo_tensor([[0], [1], [1]], [[1.0]], [1, 3, 3, 1])


def test_static_programs_are_refused() -> None:
    x = leaf()
    paddle.enable_static()
    with pytest.raises(ModeError, match="dynamic mode only"):
        S.sparse_coo_tensor([[0]], [1.0], [2])
    with pytest.raises(ModeError, match="dynamic mode only"):
        S.sin(x)


def test_places_may_be_none() -> None:
    nothing = S.sparse_coo_tensor(np.zeros((2, 0), "int64"), np.zeros(0, "float32"), [2, 3])
    nothing.stop_gradient = False
    total = S.matmul(S.add(S.sin(nothing), nothing), paddle.ones([3, 2]))
    total.sum().backward()
    assert total.tolist() == [[0.0, 0.0], [0.0, 0.0]]
    assert nothing.grad.nnz() == 0
    assert nothing.to_sparse_csr().crows().tolist() == [0, 0, 0]
    assert S.nn.functional.softmax(nothing).nnz() == S.sum(nothing, 0).nnz() == S.transpose(nothing, [1, 0]).nnz() == 0


def test_layers_have_the_names_and_texts_of_paddle() -> None:
    with paddle.utils.unique_name.guard():
        layers = [S.nn.SubmConv3D(2, 3, 3, padding=1), S.nn.Conv2D(2, 3, 3), S.nn.BatchNorm(3)]
    assert [(p.name, p.shape) for layer in layers for p in layer.parameters()] == [
        ("subm_conv3d_0.w_0", [3, 3, 3, 2, 3]),
        ("subm_conv3d_0.b_0", [3]),
        ("conv2d_0.w_0", [3, 3, 2, 3]),
        ("conv2d_0.b_0", [3]),
        ("batch_norm_0.w_0", [3]),
        ("batch_norm_0.b_0", [3]),
        ("batch_norm_0.w_1", [3]),
        ("batch_norm_0.w_2", [3]),
    ]
    layers += [S.nn.ReLU(), S.nn.ReLU6(name="x"), S.nn.LeakyReLU(), S.nn.Softmax(), S.nn.MaxPool3D(2)]
    assert [repr(layer) for layer in layers] == [
        "SubmConv3D(2, 3, kernel_size=[3, 3, 3], padding=1, data_format=NDHWC)",
        "Conv2D(2, 3, kernel_size=[3, 3], data_format=NHWC)",
        "BatchNorm(num_features=3, momentum=0.9, epsilon=1e-05, data_format=NDHWC)",
        "ReLU()",
        "ReLU6(name=x)",
        "LeakyReLU()",
        "Softmax()",
        "MaxPool3D(kernel_size=2, stride=None, padding=0)",
    ]
