"""``backward``, ``Tensor.backward`` and ``paddle.grad``: what they compute, what they accept, what they leave alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gradtool import paddle
from gradtool.engine.eager.calls import NoGraphWarning

pytestmark = pytest.mark.usefixtures("dynamic")


def leaf(*values: float) -> Any:
    return paddle.to_tensor(list(values), stop_gradient=False)


def constant(*values: float) -> Any:
    return paddle.to_tensor(list(values))


# -- what arrives -----------------------------------------------------------------------------------------------------


def test_default_seed_is_ones_for_any_shape() -> None:
    x = leaf(1.0, 2.0)
    (x * x).backward()
    assert x.grad.tolist() == [2.0, 4.0]


def test_gradients_add_up_over_calls_and_uses() -> None:
    x = leaf(1.0, 2.0)
    for _ in range(3):
        (x * x + x).sum().backward()
    assert x.grad.tolist() == [9.0, 15.0]


def test_targets_that_depend_on_each_other_add_up() -> None:
    x = leaf(1.0, 2.0)
    a = x * 3.0
    paddle.autograd.backward([a * a, a, x])
    assert x.grad.tolist() == [18.0 + 3.0 + 1.0, 36.0 + 3.0 + 1.0]


def test_seed_of_a_leaf_is_copied() -> None:
    x, seed = leaf(1.0, 2.0), constant(5.0, 6.0)
    x.backward(seed)
    seed.fill_(0.0)
    assert x.grad.tolist() == [5.0, 6.0]
    x.grad.set_value(constant(7.0, 7.0))
    assert seed.tolist() == [0.0, 0.0]


def test_seed_takes_the_type_of_its_tensor() -> None:
    x = leaf(1.0, 2.0)
    (x * 2.0).backward(paddle.to_tensor(np.array([1, 2])))
    assert (x.grad.dtype, x.grad.tolist()) == (paddle.float32, [2.0, 4.0])


def test_a_none_among_grad_tensors_is_ones() -> None:
    x = leaf(1.0, 2.0)
    paddle.autograd.backward([x * x, x * 3.0], [constant(1.0, 10.0), None])
    assert x.grad.tolist() == [5.0, 43.0]
    paddle.autograd.backward((x * 1.0,), [])
    assert x.grad.tolist() == [6.0, 44.0]


def test_two_leaves_never_share_a_gradient() -> None:
    x, y = leaf(1.0, 2.0), leaf(3.0, 4.0)
    (x + y).backward()
    x.grad.set_value(constant(0.0, 0.0))
    assert y.grad.tolist() == [1.0, 1.0]


def test_an_assigned_gradient_is_a_copy() -> None:
    x, gradient = leaf(1.0, 2.0), constant(1.0, 1.0)
    x.grad = gradient
    (x * 2.0).backward()
    assert (x.grad.tolist(), gradient.tolist()) == ([3.0, 3.0], [1.0, 1.0])
    x.grad = None
    assert x.grad is None


def test_a_kept_gradient_follows_later_calls_until_it_is_cleared() -> None:
    x = leaf(1.0, 2.0)
    (x * x).backward()
    gradient = x.grad
    (x * x).backward()
    assert gradient.tolist() == [4.0, 8.0]
    x.clear_grad()
    assert gradient.tolist() == [0.0, 0.0]
    (x * x).backward()
    assert (gradient.tolist(), x.grad.tolist()) == ([0.0, 0.0], [2.0, 4.0])
    x.clear_gradient(False)
    assert x.grad is None


def test_stop_gradient_among_targets_is_passed_over() -> None:
    x = leaf(1.0, 2.0)
    paddle.autograd.backward([constant(1.0), x * 2.0])
    assert x.grad.tolist() == [2.0, 2.0]


def test_backward_of_something_without_graph_says_why() -> None:
    with pytest.warns(NoGraphWarning, match=r"Tensor\.backward did nothing: the tensor has stop_gradient=True"):
        constant(1.0).backward()
    with paddle.no_grad():
        y = leaf(1.0) * 2.0
    with pytest.warns(NoGraphWarning, match="all tensors have stop_gradient=True.*no_grad"):
        paddle.autograd.backward([y, constant(2.0)])


def test_second_backward_names_where_made_and_where_freed() -> None:
    x = leaf(1.0, 2.0)
    y = x * x  # made here
    y.backward()  # freed here
    with pytest.raises(SystemError, match="retain_graph=True") as caught:
        y.backward()
    assert "# made here" in str(caught.value)
    assert "# freed here" in str(caught.value)
    assert isinstance(caught.value, RuntimeError)


def test_second_backward_through_what_retains_nothing_raises_too() -> None:
    x = leaf(1.0, 2.0)
    y = x + x
    y.backward()
    with pytest.raises(SystemError):
        y.backward()


def test_retain_graph_allows_another_backward() -> None:
    x = leaf(1.0, 2.0)
    y = x * x
    y.backward(retain_graph=True)
    y.backward()
    assert x.grad.tolist() == [4.0, 8.0]


# -- paddle.grad ------------------------------------------------------------------------------------------------------


def test_grad_touches_nothing() -> None:
    x = leaf(1.0, 2.0)
    h = x * x
    h.retain_grads()
    (g,) = paddle.grad((h * 3.0).sum(), x)
    assert (g.tolist(), g.stop_gradient) == ([6.0, 12.0], True)
    assert (x.grad, h.grad) == (None, None)
    h.backward()
    assert x.grad.tolist() == [2.0, 4.0]


def test_grad_of_intermediates_and_leaves() -> None:
    x = leaf(1.0, 2.0)
    h = x * x
    z = h * x
    assert [g.tolist() for g in paddle.grad(z, h)] == [[1.0, 2.0]]
    assert [g.tolist() for g in paddle.grad(z, [h, x])] == [[1.0, 2.0], [3.0, 12.0]]
    assert [g.tolist() for g in paddle.grad([z, h], [h])] == [[2.0, 3.0]]
    assert [g.tolist() for g in paddle.grad(z, [z, h])] == [[1.0, 1.0], [1.0, 2.0]]
    assert [g.tolist() for g in paddle.grad(x, x)] == [[1.0, 1.0]]


def test_no_grad_vars_are_constants_of_one_call() -> None:
    x = leaf(1.0, 2.0)
    h = x * x
    z = h * x
    for constants in (h, [h], (h,), {h}):
        assert paddle.grad(z, x, no_grad_vars=constants)[0].tolist() == [1.0, 4.0]
    assert paddle.grad(z, x, no_grad_vars=[])[0].tolist() == [3.0, 12.0]


def test_results_do_not_share_storage() -> None:
    x, y = leaf(1.0, 2.0), leaf(3.0, 4.0)
    seed = constant(1.0, 1.0)
    for create_graph in (False, True):
        a, b = paddle.grad(x + y, [x, y], grad_outputs=seed, create_graph=create_graph)
        with paddle.no_grad():
            a.fill_(9.0)
        assert (b.tolist(), seed.tolist()) == ([1.0, 1.0], [1.0, 1.0])


def test_create_graph_to_the_fourth_order() -> None:
    x = leaf(0.5)
    y = x * x * x * x
    values = []
    for _ in range(4):
        (y,) = paddle.grad(y.sum(), x, create_graph=True)
        assert not y.stop_gradient
        values.append(y.item())
    assert values == [0.5, 3.0, 12.0, 24.0]


def test_gradients_reach_grad_outputs_with_create_graph() -> None:
    x, v = leaf(1.0, 2.0), leaf(5.0, 7.0)
    (g,) = paddle.grad(x * x, x, grad_outputs=v, create_graph=True)
    assert paddle.grad(g.sum(), v)[0].tolist() == [2.0, 4.0]


def test_relu_has_a_second_derivative_of_zero() -> None:
    x = leaf(-1.0, 2.0)
    (g,) = paddle.grad(paddle.nn.functional.relu(x) * x, x, create_graph=True)
    assert g.tolist() == [0.0, 4.0]
    assert paddle.grad(g, x)[0].tolist() == [0.0, 2.0]


def test_unused_inputs() -> None:
    x, other = leaf(1.0, 2.0), leaf(3.0)
    assert paddle.grad(x * x, [x, other], allow_unused=True)[1] is None
    with pytest.raises(ValueError, match=r"input 1 .* does not appear .*\n.*allow_unused=True"):
        paddle.grad(x * x, [x, other])
    with pytest.raises(ValueError, match="it has stop_gradient=True"):
        paddle.grad(x * x, constant(1.0))
    with pytest.raises(ValueError, match="the output has stop_gradient=True"):
        paddle.grad((x * x).detach(), x)
    with pytest.raises(ValueError, match="detach"):
        paddle.grad(x.detach() * other, x)


def test_modes() -> None:
    x = leaf(1.0, 2.0)
    y = x * x
    with paddle.no_grad():
        assert (x * x).stop_gradient
        y.backward(retain_graph=True)
        with paddle.enable_grad():
            assert not (x * x).stop_gradient
    assert x.grad.tolist() == [2.0, 4.0]


# -- arguments --------------------------------------------------------------------------------------------------------

BACKWARD: dict[str, tuple[Callable[[Any], Any], type[Exception], str]] = {
    "none": (lambda x: paddle.autograd.backward(None), AssertionError, "tensors' should not be None"),
    "empty": (lambda x: paddle.autograd.backward([]), AssertionError, "cannot be empty"),
    "element": (lambda x: paddle.autograd.backward([x, 3]), AssertionError, "Elements of 'tensors'.*int"),
    "number": (lambda x: paddle.autograd.backward(3), AssertionError, "Tensor or list of Tensor, but received int"),
    "set": (lambda x: paddle.autograd.backward({x}), AssertionError, "but received set"),
    "twice": (lambda x: paddle.autograd.backward([x, x]), AssertionError, "duplicate paddle.Tensor object"),
    "seed number": (lambda x: paddle.autograd.backward([x], 3), AssertionError, "'grad_tensors' is invalid.*int"),
    "seed element": (lambda x: paddle.autograd.backward([x], [3]), AssertionError, "'grad_tensors' is invalid.*int"),
    "lengths": (lambda x: paddle.autograd.backward([x], [None, None]), AssertionError, "length .* 2 and 1"),
    "flag": (lambda x: paddle.autograd.backward([x], None, 1), AssertionError, "retain_graph must be True or False"),
    "path": (lambda x: paddle.autograd.backward(x, dump_backward_graph_path=b"d"), AssertionError, "string type"),
    "positional path": (lambda x: paddle.autograd.backward(x, None, False, "d"), TypeError, "positional"),
    "seed shape": (lambda x: paddle.autograd.backward(x, constant(1.0)), ValueError, r"shape \[1\] mismatch .* \[2\]"),
    "complex seed": (
        lambda x: paddle.autograd.backward(x, paddle.to_tensor(np.array([1j, 1]))),
        TypeError,
        "is complex128, and .* is float32",
    ),
    "method seed": (lambda x: x.backward(3.0), AssertionError, "'grad_tensor' must be a paddle.Tensor"),
    "method shape": (lambda x: x.backward(constant(1.0)), AssertionError, "Tensor shape not match"),
    "method flag": (lambda x: x.backward(None, 1), TypeError, "retain_graph must be True or False"),
}


@pytest.mark.parametrize("case", BACKWARD)
def test_backward_refuses(case: str) -> None:
    call, error, message = BACKWARD[case]
    x = leaf(1.0, 2.0)
    with pytest.raises(error, match=message):
        call(x)
    assert x.grad is None


GRAD: dict[str, tuple[dict[str, Any], type[Exception], str]] = {
    "no outputs": ({"outputs": []}, AssertionError, "'outputs' cannot be empty"),
    "no inputs": ({"inputs": []}, AssertionError, "'inputs' cannot be empty"),
    "outputs none": ({"outputs": None}, AssertionError, "'outputs' should not be None"),
    "inputs number": ({"inputs": 3}, AssertionError, "'inputs' must be Tensor"),
    "seeds": ({"grad_outputs": [None, None]}, AssertionError, "length of 'grad_outputs'"),
    "only_inputs": ({"only_inputs": False}, AssertionError, "only_inputs=False is not supported"),
    "retain_graph": ({"retain_graph": 1}, AssertionError, "retain_graph must be"),
    "create_graph": ({"create_graph": 1}, AssertionError, "create_graph must be"),
    "allow_unused": ({"allow_unused": 1}, AssertionError, "allow_unused must be"),
    "no_grad_vars": ({"no_grad_vars": 3}, AssertionError, "'no_grad_vars' must be"),
    "no_grad_vars element": ({"no_grad_vars": [3]}, AssertionError, "Elements of 'no_grad_vars'"),
    "path": ({"dump_backward_graph_path": 3}, AssertionError, "must be string type"),
}


@pytest.mark.parametrize("case", GRAD)
def test_grad_refuses(case: str) -> None:
    arguments, error, message = GRAD[case]
    x = leaf(1.0, 2.0)
    with pytest.raises(error, match=message):
        paddle.grad(**{"outputs": x * x, "inputs": x, **arguments})


def test_grad_refuses_duplicates() -> None:
    x = leaf(1.0, 2.0)
    y = x * x
    with pytest.raises(RuntimeError, match="twice in 'inputs'"):
        paddle.grad(y, [x, x])
    with pytest.raises(RuntimeError, match="twice in 'outputs'"):
        paddle.grad([y, y], x)


def test_static_mode_is_refused() -> None:
    x = leaf(1.0)
    paddle.enable_static()
    for call in (
        lambda: paddle.autograd.backward(x),
        lambda: paddle.grad(x, x),
        lambda: x.backward(),
    ):
        with pytest.raises(AssertionError, match="static mode is on"):
            call()
