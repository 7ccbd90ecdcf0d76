"""Every public name that ends in ``_``: it writes its right argument, and nothing else changes.

The names come from the table of public names and from the members of ``Tensor``; one without a row here fails.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gradtool import paddle
from gradtool.paddle import _diagonals, _lazy

Row = tuple[Any, ...]


pytestmark = pytest.mark.usefixtures("dynamic")


def numbers(*shape: int, low: float = 0.2, high: float = 0.9) -> Any:
    return np.random.default_rng(7).uniform(low, high, shape).astype("float32")


X = numbers(2, 3)
Y = numbers(2, 3, low=0.5, high=0.8)
FLAGS = np.array([[True, False, True], [False, False, True]])
INTS = np.array([[6, 1, 5], [3, 2, 7]])

ELEMENTWISE = (
    "abs acos asin asinh atan atanh ceil cos cosh exp floor log log10 log1p log2 neg reciprocal round rsqrt sigmoid "
    "sin sinh sqrt square tan tanh tril triu t cumsum flatten scale cumprod digamma erf erfinv expm1 frac gammaln i0 "
    "lgamma logit nan_to_num sinc trunc"
)
WITH_ANOTHER = (
    "add divide multiply subtract floor_divide floor_mod mod remainder equal not_equal greater_equal greater_than "
    "less less_equal less_than copysign div gammainc gammaincc greater hypot mul sub"
)

ROWS: dict[str, Row] = {
    **{f"{name}_": (X,) for name in ELEMENTWISE.split()},
    **{f"{name}_": (X, Y) for name in WITH_ANOTHER.split()},
    **{f"logical_{name}_": (FLAGS, FLAGS[::-1].copy()) for name in ("and", "or", "xor")},
    **{f"bitwise_{name}_": (INTS, INTS[::-1].copy()) for name in ("and", "or", "xor")},
    "acosh_": (X + 1.5,),
    **{f"{name}_": (INTS, INTS[::-1].copy()) for name in ("gcd", "lcm", "bitwise_left_shift", "bitwise_right_shift")},
    "addmm_": (numbers(2, 2), X, numbers(3, 2)),
    "baddbmm_": (numbers(1, 2, 2), numbers(1, 2, 3), numbers(1, 3, 2)),
    "bitwise_invert_": (INTS,),
    "bitwise_not_": (INTS,),
    "cast_": (X, "float64"),
    "clamp_": (X, 0.4, 0.6),
    "clip_": (X, 0.4, 0.6),
    "fill_": (X, 3.0),
    "fill_diagonal_": (X, 3.0),
    "fill_diagonal_tensor_": (X, numbers(2)),
    "index_add_": (X, [1], 0, numbers(1, 3)),
    "index_fill_": (X, [1], 0, 2.5),
    "index_put_": (X, ([1, 0],), numbers(2, 3)),
    "ldexp_": (X, INTS),
    "lerp_": (X, Y, 0.3),
    "logical_not_": (FLAGS,),
    "masked_fill_": (X, FLAGS, 3.0),
    "masked_scatter_": (X, FLAGS, numbers(6)),
    "multigammaln_": (X + 2.5, 2),
    "normal_": (X,),
    "polygamma_": (X, 2),
    "pow_": (X, 2.5),
    "put_along_axis_": (X, INTS[:, :1] % 3, 5.0, 1),
    "renorm_": (X, 2.0, 0, 0.5),
    "reshape_": (X, [3, 2]),
    "scatter_": (X, [1], numbers(1, 3)),
    "scatter_add_": (X, 1, INTS % 3, numbers(2, 3)),
    "squeeze_": (X.reshape(2, 1, 3), 1),
    "transpose_": (X, [1, 0]),
    "uniform_": (X,),
    "unsqueeze_": (X, 1),
    "where_": (FLAGS, X, Y),
    "zero_": (X,),
    **dict.fromkeys(("elu_", "hardtanh_", "leaky_relu_", "relu_", "softmax_", "thresholded_relu_"), (X - 0.5,)),
}
"""What each is called with: arrays (and lists of indices) become tensors, floating-point ones with gradients."""

TARGETS = {"where_": 1}
"""The argument that is written, where it is not the first."""

OTHERS = {
    "apply_": "takes a function, and no tensor that gradients flow into",
    "copy_": "takes over values alone",
    "detach_": "writes nothing",
    "embedding_renorm_": "writes a table, without gradients",
    "requires_grad_": "writes nothing",
    **dict.fromkeys(
        ("bernoulli_", "cauchy_", "exponential_", "geometric_", "log_normal_", "random_"), "writes random numbers"
    ),
    "grad_": "is the gradient",
    "resize_": "writes storage, not values",
    "set_": "writes storage, not values",
}
"""Names with tests of their own below."""

NOT_OPERATIONS = {"bool_", "convert_np_dtype_to_dtype_"}


def drawn(x: Any, draw: Callable[[Any], Any]) -> Any:
    return draw(x) + x * 0.0


OUT_OF_PLACE: dict[str, Callable[..., Any]] = {
    "fill_": lambda x, value: x * 0.0 + value,
    "zero_": lambda x: x * 0.0,
    "fill_diagonal_": _diagonals.fill_diagonal,
    "fill_diagonal_tensor_": _diagonals.fill_diagonal_tensor,
    "lerp_": paddle.lerp,
    "normal_": lambda x: drawn(x, lambda x: paddle.normal(0.0, 1.0, x.shape)),
    "uniform_": lambda x: drawn(x, lambda x: paddle.uniform(x.shape, min=-1.0, max=1.0)),
}
"""What those compute that have no function without the ``_``."""

METHODS = {n for n in dir(paddle.Tensor) if n.endswith("_") and not n.endswith("__") and not n.startswith("_")}
FUNCTIONS = {n for p in sorted(_lazy.packages()) for n in _lazy.sources(p) if n.endswith("_") and not n.startswith("_")}


def test_every_name_has_a_row() -> None:
    assert {*ROWS, *OTHERS, *NOT_OPERATIONS} == METHODS | FUNCTIONS
    assert not {*ROWS} & {*OTHERS}


def public(name: str) -> Any:
    """The function of that name, of ``paddle`` or of ``paddle.nn.functional``."""
    return getattr(paddle if name in dir(paddle) else paddle.nn.functional, name)


class Call:
    """The arguments of one call as tensors: the target, and every other one, computed from leaves."""

    def __init__(self, name: str, *, leaf: bool = False) -> None:
        self.name = name
        self.leaves: list[Any] = []
        self.leaf = leaf
        self.args = [self.tensor(a, at == TARGETS.get(name, 0)) for at, a in enumerate(ROWS[name])]
        self.target = self.args[TARGETS.get(name, 0)]

    def tensor(self, value: Any, target: bool) -> Any:
        if isinstance(value, tuple):
            return tuple(self.tensor(v, False) for v in value)
        if not isinstance(value, np.ndarray) and not (
            isinstance(value, list) and self.name in ("index_put_", "scatter_", "index_add_", "index_fill_")
        ):
            return value
        tensor = paddle.to_tensor(value)
        if np.asarray(value).dtype.kind != "f":
            return tensor
        tensor.stop_gradient = False
        self.leaves.append(tensor)
        return tensor if target and self.leaf else tensor * 1.0

    def out_of_place(self) -> Any:
        paddle.seed(5)
        return (OUT_OF_PLACE.get(self.name) or public(self.name[:-1]))(*self.args)

    def method(self) -> Any:
        paddle.seed(5)
        return getattr(self.args[0], self.name)(*self.args[1:])

    def function(self) -> Any:
        paddle.seed(5)
        return public(self.name)(*self.args)

    def slopes(self, result: Any) -> list[Any]:
        """The gradients of a sum of *result* with weights, None for a leaf that gets none or zeros."""
        if not result.stop_gradient:
            weights = paddle.to_tensor(np.cos(np.arange(result.size)).reshape(result.shape).astype("float32"))
            (result.astype("float32") * weights).sum().backward()
        gradients = [None if leaf.grad is None else leaf.grad.numpy() for leaf in self.leaves]
        return [None if g is None or not g.any() else g for g in gradients]


def ways(name: str) -> list[Callable[[Call], Any]]:
    return [Call.method] * (name in METHODS) + [Call.function] * (name in FUNCTIONS)


@pytest.mark.parametrize("name", sorted(ROWS))
def test_it_writes_what_the_function_computes(name: str) -> None:
    for way in ways(name):
        plain, call = Call(name), Call(name)
        expected = plain.out_of_place()
        others = [a for a in call.args if isinstance(a, paddle.Tensor) and a is not call.target]
        before = [a.numpy() for a in others]
        result = way(call)
        assert result is call.target
        assert (result.shape, result.dtype) == (expected.shape, expected.dtype)
        assert result.numpy().tolist() == expected.numpy().tolist()
        assert result.inplace_version == 1
        assert [a.inplace_version for a in others] == [0] * len(others)
        assert all((a.numpy() == b).all() for a, b in zip(others, before, strict=True))
        assert result.stop_gradient == expected.stop_gradient
        for g, e in zip(call.slopes(result), plain.slopes(expected), strict=True):
            np.testing.assert_array_equal(g, e)


@pytest.mark.parametrize("name", sorted(ROWS))
def test_it_works_on_storage_that_others_see(name: str) -> None:
    """An alias sees the new values, as long as they have the dtype and the shape of the old ones."""
    for way in ways(name):
        call = Call(name)
        alias = call.target.detach()
        result = way(call)
        assert alias.inplace_version == 1
        if (alias.shape, alias.dtype) == (result.shape, result.dtype):
            assert alias.numpy().tolist() == result.numpy().tolist()


@pytest.mark.parametrize("name", sorted(ROWS))
def test_a_leaf_that_needs_a_gradient_is_refused(name: str) -> None:
    for way in ways(name):
        call = Call(name, leaf=True)
        if not call.target.dtype.is_floating:
            call.target.stop_gradient = False
        values = call.target.numpy()
        with pytest.raises(ValueError, match=f"can't use the inplace operator {name}"):
            way(call)
        assert (call.target.numpy() == values).all()
        assert call.target.inplace_version == 0
        with paddle.no_grad():
            assert way(call) is call.target
        assert (call.target.inplace_version, call.target.is_leaf, call.target.stop_gradient) == (1, True, False)


@pytest.mark.parametrize("name", sorted(n for n in ROWS if ROWS[n][TARGETS.get(n, 0)].dtype.kind == "f"))
def test_a_value_retained_before_is_stale(name: str) -> None:
    for way in ways(name):
        call = Call(name)
        square = call.target * call.target
        way(call)
        with pytest.raises(RuntimeError, match=r"modified by an inplace operation \("):
            square.sum().backward()


def test_functions_take_their_arguments_by_name() -> None:
    c, x, y = paddle.to_tensor([True, False]), paddle.to_tensor([1.0, 2.0]), paddle.to_tensor([5.0, 6.0])
    assert paddle.where_(condition=c, x=x, y=y) is x
    assert (c.tolist(), x.tolist(), y.tolist()) == ([True, False], [1.0, 6.0], [5.0, 6.0])
    z = paddle.zeros([2, 2])
    assert paddle.addmm_(input=z, x=paddle.ones([2, 3]), y=paddle.ones([3, 2])) is z
    assert z.tolist() == [[3.0, 3.0], [3.0, 3.0]]
    assert paddle.tanh_(x=x) is x


# -- where_ --------------------------------------------------------------------------------------------------------


def test_where_of_bools_writes_x_and_leaves_the_condition_alone() -> None:
    c, x, y = (paddle.to_tensor(v) for v in ([True, False], [False, True], [True, False]))
    assert paddle.where_(c, x, y) is x
    assert (c.tolist(), x.tolist(), y.tolist()) == ([True, False], [False, False], [True, False])
    assert c.where_(y, x) is y
    assert (c.tolist(), y.tolist()) == ([True, False], [True, False])


def test_where_on_its_own_condition() -> None:
    c = paddle.to_tensor([True, False])
    assert paddle.where_(c, c, paddle.to_tensor([True, True])) is c
    assert c.tolist() == [True, True]


def test_where_with_numbers_and_shapes() -> None:
    c, x = paddle.to_tensor([True, False]), paddle.to_tensor([1.0, 2.0])
    assert paddle.where_(c, x, 7.0).tolist() == [1.0, 7.0]
    assert paddle.where_(c, x, paddle.to_tensor([5.0])).tolist() == [1.0, 5.0]
    with pytest.raises(ValueError, match="where_: the result has shape"):
        paddle.where_(c, paddle.to_tensor([1.0]), x)
    with pytest.raises(ValueError, match="both x and y must be given"):
        paddle.where_(c, x)
    with pytest.raises(TypeError, match="'x' in where_ must be"):
        paddle.where_(c, 5.0, x)


# -- the others ----------------------------------------------------------------------------------------------------


def test_another_dtype_than_before() -> None:
    x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
    h = x * 1.0
    assert h.add_(paddle.to_tensor([1.0, 2.0], dtype="float64")) is h
    assert h.dtype == paddle.float64
    (h * h).sum().backward()
    assert (x.grad.dtype, x.grad.tolist()) == (paddle.float32, [4.0, 8.0])


def test_cumsum_without_an_axis_flattens() -> None:
    x = paddle.to_tensor([[1.0, 2.0], [3.0, 4.0]], stop_gradient=False)
    assert paddle.cumsum(x).tolist() == [1.0, 3.0, 6.0, 10.0]
    h = x * 1.0
    assert h.cumsum_() is h
    assert h.tolist() == [1.0, 3.0, 6.0, 10.0]
    (h * paddle.to_tensor([1.0, 2.0, 3.0, 4.0])).sum().backward()
    assert x.grad.tolist() == [[10.0, 9.0], [7.0, 4.0]]


def test_copy_takes_values_alone() -> None:
    x, y = (paddle.to_tensor([v, v], stop_gradient=False) for v in (1.0, 5.0))
    h, k = x * 1.0, y * 1.0
    square = h * h
    assert h.copy_(k) is h
    assert (h.tolist(), h.inplace_version) == ([5.0, 5.0], 1)
    (h * 3.0).sum().backward()
    assert (x.grad.tolist(), y.grad) == ([3.0, 3.0], None)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        square.sum().backward()
    with pytest.raises(ValueError, match=r"has shape \[2\], the other tensor \[1\]"):
        h.copy_(paddle.ones([1]))
    with pytest.raises(TypeError, match="is float32, the other tensor int64"):
        h.copy_(paddle.to_tensor([1, 2]))


def test_apply_writes_what_a_function_gives() -> None:
    x = paddle.to_tensor([1.0, 2.0])
    alias = x.detach()
    assert x.apply_(lambda t: t * 2) is x
    assert (x.tolist(), alias.tolist(), x.inplace_version) == ([2.0, 4.0], [2.0, 4.0], 1)
    with pytest.raises(ValueError, match="the result has shape"):
        x.apply_(lambda t: t.sum())
    x.stop_gradient = False
    for tensor in (x, x * 1.0):
        with pytest.raises(RuntimeError, match="Cannot apply function"):
            tensor.apply_(lambda t: t)


def test_those_that_write_nothing() -> None:
    x = paddle.to_tensor([1.0], stop_gradient=False)
    h = x * 2.0
    assert h.detach_() is h
    assert (h.is_leaf, h.stop_gradient, h.inplace_version) == (True, True, 0)
    assert h.requires_grad_() is h
    assert (h.stop_gradient, h.requires_grad_(False).stop_gradient, h.inplace_version) == (False, True, 0)
