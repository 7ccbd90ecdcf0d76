"""Operators and methods of variables and tensors: ``x + 1``, ``x > y``, ``x[0]``, ``x.mean()``, ``x.T``.

They are attached to :class:`gradtool.engine.ir.variable.Variable` and :class:`gradtool.engine.eager.tensor.Tensor` when
this module is imported: :mod:`gradtool.paddle._lazy` does that for whoever gets a public name that makes them. On
variables, operators append to the program of their variable, whatever the default program is, and call their results
``tmp_0``, ``tmp_1``, …; on tensors they compute (``_tensor_methods`` has what only tensors have).

``==`` and ``!=`` make variables too, so they are told apart with ``is``; as keys of dicts and members of sets
they count by identity, since both classes keep the hash of ``object``.
"""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from gradtool.engine.core import state
from gradtool.engine.core.errors import ArgumentTypeError, UsageError
from gradtool.engine.core.spec import bool_, complex64, int64, promote
from gradtool.engine.core.spec import dtype as dtype_of
from gradtool.engine.core.value import AnyTensor
from gradtool.engine.eager.tensor import Tensor
from gradtool.engine.ir.variable import Variable

from . import _lazy, _tensor_members, _tensor_methods, _tensor_places, _tensor_sparse
from ._dispatch import append
from ._late_method import LateMethod
from ._promotion import append_tmp, as_float, cast, constant, unified
from ._remembered import remembered

Scalar = Callable[[float], tuple[float, float]]
"""From the number in an expression to the ``scale`` and ``bias`` that compute it."""

OPERATORS: tuple[tuple[str, str, bool, Scalar | None], ...] = (
    ("__add__", "elementwise_add", False, lambda c: (1.0, c)),
    ("__radd__", "elementwise_add", False, lambda c: (1.0, c)),
    ("__sub__", "elementwise_sub", False, lambda c: (1.0, -c)),
    ("__rsub__", "elementwise_sub", True, lambda c: (-1.0, c)),
    ("__mul__", "elementwise_mul", False, lambda c: (c, 0.0)),
    ("__rmul__", "elementwise_mul", False, lambda c: (c, 0.0)),
    ("__truediv__", "elementwise_div", False, lambda c: (1.0 / c, 0.0)),
    ("__rtruediv__", "elementwise_div", True, None),
    ("__pow__", "elementwise_pow", False, None),
    ("__rpow__", "elementwise_pow", True, None),
    ("__floordiv__", "elementwise_floordiv", False, None),
    ("__rfloordiv__", "elementwise_floordiv", True, None),
    ("__mod__", "elementwise_mod", False, None),
    ("__rmod__", "elementwise_mod", True, None),
    ("__matmul__", "matmul_v2", False, None),
    ("__rmatmul__", "matmul_v2", True, None),
    ("__eq__", "equal", False, None),
    ("__ne__", "not_equal", False, None),
    ("__lt__", "less_than", False, None),
    ("__le__", "less_equal", False, None),
    ("__gt__", "greater_than", False, None),
    ("__ge__", "greater_equal", False, None),
)
"""Special method, operator, whether the variable is the right operand, and how ``scale`` does it for a number."""

METHODS = (
    # elementwise
    "abs acos acosh add angle as_complex as_real asin asinh atan atan2 atanh ceil clip conj cos cosh digamma divide "
    "erf erfinv exp expm1 floor floor_divide floor_mod fmax fmin frac imag increment lerp lgamma log log10 log1p "
    "log2 logit maximum minimum mod multiply neg negative pow real reciprocal remainder round rsqrt scale sigmoid "
    "sign sin sinh sqrt square stanh subtract tan tanh trunc bitwise_and bitwise_invert bitwise_not bitwise_or "
    "bitwise_xor heaviside nan_to_num logaddexp copysign "
    # comparisons and logic
    "allclose equal equal_all greater_equal greater_than is_empty isclose isfinite isinf isnan less less_equal "
    "less_than logical_and logical_not logical_or logical_xor not_equal is_tensor is_complex is_integer "
    "is_floating_point "
    # reductions
    "all amax amin any count_nonzero cumprod cumsum logcumsumexp logsumexp max mean median min nanmean nansum "
    "norm numel prod quantile rank std sum trace var "
    # products
    "addmm bmm cross dist dot inner inverse kron matmul mm mv outer t tensordot "
    # shapes and places
    "atleast_1d atleast_2d atleast_3d broadcast_to cast chunk concat diag diagonal expand dsplit expand_as "
    "flatten flip gather gather_nd hsplit index_add index_put index_sample index_select masked_fill "
    "masked_select matrix_transpose moveaxis put_along_axis repeat_interleave reshape reverse roll rot90 scatter "
    "scatter_nd_add slice split squeeze stack strided_slice take_along_axis tensor_split tile transpose tril "
    "triu unbind unflatten unsqueeze unstack view view_as vsplit where "
    # searching and sorting
    "argmax argmin argsort bincount histogram kthvalue mode multinomial nonzero searchsorted sort topk unique "
    # further functions of elements
    "bitwise_left_shift bitwise_right_shift clamp deg2rad div eq frexp gammainc gammaincc gammaln gcd ge greater gt "
    "hypot i0 i0e i1 i1e isin isneginf isposinf isreal lcm ldexp le lt mul multigammaln ne nextafter polar polygamma "
    "rad2deg sgn signbit sinc sub true_divide trunc "
    # further functions along dimensions
    "cdist cummax cummin cumulative_trapezoid diff histogram_bin_edges histogramdd msort nanmedian nanquantile "
    "reduce_as renorm softmax trapezoid unique_consecutive bucketize baddbmm vander combinations block_diag "
    # further parts and forms
    "add_n argwhere as_strided broadcast_shape broadcast_shapes broadcast_tensors diag_embed diagflat "
    "diagonal_scatter index_fill masked_scatter multiplex narrow permute ravel scatter_add scatter_nd "
    "scatter_reduce select_scatter shard_index slice_scatter swapaxes swapdims take take_along_dim unfold "
    "view_as_complex view_as_real"
)
"""Functions ``paddle.f(x, …)`` that are methods ``x.f(…)`` as well, as far as gradtool has them."""

OF_MATRICES = (
    "cholesky cholesky_inverse cholesky_solve cond corrcoef cov eig eigvals eigvalsh householder_product lstsq lu "
    "lu_unpack matrix_power multi_dot ormqr pca_lowrank pinv qr slogdet solve svd_lowrank"
)
"""Functions ``paddle.linalg.f(x, …)`` that are methods ``x.f(…)`` as well."""

OF_PARTS = {"gradtool.paddle.linalg": OF_MATRICES, "gradtool.paddle.signal": "istft stft"}
"""By package, its functions that are methods as well."""

IN_PLACE = (
    "abs acos acosh add addmm asin asinh atan atanh bitwise_and bitwise_invert bitwise_not bitwise_or "
    "bitwise_xor cast ceil clip cos cosh cumprod cumsum digamma divide equal erfinv exp flatten floor "
    "floor_divide floor_mod frac greater_equal greater_than index_add index_put lerp less less_equal less_than "
    "lgamma log log10 log1p log2 logical_and logical_not logical_or logical_xor logit masked_fill mod multiply "
    "nan_to_num neg not_equal pow put_along_axis reciprocal remainder reshape round rsqrt scale scatter sigmoid "
    "sin sinh sqrt square squeeze subtract t tan tanh transpose tril triu trunc unsqueeze where "
    "baddbmm bitwise_left_shift bitwise_right_shift clamp copysign div erf expm1 gammainc gammaincc gammaln gcd "
    "greater hypot i0 index_fill lcm ldexp masked_scatter mul multigammaln polygamma renorm scatter_add sinc sub"
)
"""Functions that have an in-place form ``x.f_(…)`` in dynamic mode; in a static program it makes a new variable."""


class IterationError(ArgumentTypeError, AssertionError):
    """A tensor without a first dimension, or one of unknown size, in a loop (Paddle raises AssertionError)."""

    in_paddle = "len() of a 0-D tensor is wrong"


class SetItemError(UsageError, RuntimeError):
    """``x[i] = v`` on a static variable (Paddle raises RuntimeError)."""


def _of_part(package: str, name: str) -> Any:
    return getattr(importlib.import_module(package), name)


def attach() -> None:
    """Give variables and tensors their operators and methods."""
    paddle, sources = importlib.import_module("gradtool.paddle"), _lazy.sources("gradtool.paddle")
    for row in OPERATORS:
        setattr(Variable, row[0], LateMethod(_operator, *row))
        setattr(Tensor, row[0], LateMethod(_operator_of_tensors, *row))
    on_tensors = {**_tensor_methods.SPECIAL, **_tensor_places.SPECIAL, **_tensor_members.SPECIAL}
    on_tensors |= _tensor_sparse.SPECIAL
    for owner, special in ((Variable, ON_VARIABLES), (Tensor, on_tensors)):
        for method, member in {**SPECIAL, **_tensor_members.BOTH, **special}.items():
            setattr(owner, method, member)
        for method, function in BITWISE.items():
            setattr(owner, method, LateMethod(getattr, paddle, function))
        for package, names in OF_PARTS.items():
            for name in names.split():
                setattr(owner, name, LateMethod(_of_part, package, name))
        for name in METHODS.split():
            if name in sources and name not in vars(owner):
                setattr(owner, name, LateMethod(getattr, paddle, name))
    for name in IN_PLACE.split():
        if name in sources:
            setattr(Variable, name + "_", LateMethod(_in_place, name))
            if name + "_" not in _tensor_methods.SPECIAL:
                setattr(Tensor, name + "_", LateMethod(_tensor_methods.in_place, name))


# -- operators --------------------------------------------------------------------------------------------------------


def _operator(method: str, op_type: str, reverse: bool, scalar: Scalar | None) -> Callable[[Any, Any], Any]:
    divides = op_type == "elementwise_div"
    reflected = None if reverse or method in COMPARISONS else f"__r{method.removeprefix('__')}"

    def operate(self: AnyTensor, other: Any) -> Any:
        x: AnyTensor = self
        if method in ("__eq__", "__ne__") and not isinstance(other, COMPARABLE):
            return method == "__ne__"  # a tensor is no such thing: so None is found in a list of tensors
        if isinstance(other, (complex, np.complexfloating)):
            x, other = _with_complex(x, complex(other))
        elif isinstance(other, bool) and not x.dtype.is_differentiable:
            other = constant(x, other, like=reverse and isinstance(x, Variable))
        elif not isinstance(other, AnyTensor):
            if reflected is not None and _answers(other, reflected):
                return NotImplemented
            plain = isinstance(other, (int, float))
            x = _meeting_number(x, other, divides)
            number = _number(other, method)
            infinite = divides and not number and isinstance(x, Tensor)
            if scalar is not None and (plain or method.startswith("__r")) and not infinite:
                scale, bias = scalar(number)
                return append_tmp(x, "scale", (x, None, None), {"scale": scale, "bias": bias})
            other = constant(x, number, like=reverse and isinstance(x, Variable))
        elif x.dtype is not other.dtype:
            x, other = unified(x, other, op_type)
        if reverse:
            x, other = other, x
        if divides and not (x.dtype is other.dtype is bool_):
            x, other = as_float(x), as_float(other)
        return append_tmp(self, op_type, (x, other), {})

    operate.__name__ = method
    operate.__doc__ = f"Append ``{op_type}``; returns its result."
    return operate


def _operator_of_tensors(method: str, op_type: str, reverse: bool, scalar: Scalar | None) -> Callable[[Any, Any], Any]:
    return _tensor_methods.operator(method, op_type, reverse, scalar, _operator(method, op_type, reverse, scalar))


COMPARABLE = (AnyTensor, int, float, complex, str, list, tuple, np.ndarray, np.generic)
"""What a tensor can be asked whether it is equal to; anything else it is not (strings and lists are refused)."""

COMPARISONS = ("__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__")


def _answers(other: Any, reflected: str) -> bool:
    """Return whether *other* is of a class that calculates with a tensor on its left, as a value of a rule does.

    Lists and strings have such a method too, for other purposes, and NumPy's arrays take tensors for objects.
    """
    return type(other).__module__ not in ("builtins", "numpy") and hasattr(type(other), reflected)


def _with_complex(x: AnyTensor, number: complex) -> tuple[AnyTensor, AnyTensor]:
    """*x* in the complex type that it and *number* meet in, and a tensor of *number* in that type."""
    kind = promote(x.dtype, complex64)
    x = x if x.dtype is kind else cast(x, kind)
    return x, append_tmp(x, "assign_value", (), {"shape": (), "dtype": kind.code, "values": (number,)})


def _meeting_number(x: AnyTensor, number: Any, divides: bool) -> AnyTensor:
    """*x* in the type in which it meets a number of Python."""
    if isinstance(number, float) or (divides and isinstance(number, int)):
        return as_float(x)
    return cast(x, int64) if isinstance(number, int) and x.dtype is bool_ else x


def _number(value: Any, method: str) -> float:
    """The number that *value* is: of Python, or a NumPy scalar."""
    if isinstance(value, (int, float)) or (getattr(value, "shape", None) == () and hasattr(value, "item")):
        return float(value)
    owner = "Variable" if state.in_static_mode() else "Tensor"
    raise ArgumentTypeError(
        f"{owner}.{method} takes a {owner} or a number, but received {type(value).__name__}.",
        hint="compare variables with None by `is`"
        if value is None
        else "turn a NumPy array or a list into a variable with paddle.assign, into a tensor with paddle.to_tensor",
    )


# -- methods ----------------------------------------------------------------------------------------------------------


def _in_place(function: str) -> Callable[..., Any]:
    method = function + "_"

    def call(self: Variable, *args: Any, **named: Any) -> Any:
        warnings.warn(
            f"In a static program {method}() is the same as {function}(): it makes a new variable.", stacklevel=2
        )
        return getattr(importlib.import_module("gradtool.paddle"), function)(self, *args, **named)

    call.__name__ = method
    call.__doc__ = f"``paddle.{function}`` of this variable, into a new one."
    return call


@remembered
def astype(self: AnyTensor, dtype: Any) -> Any:
    """The same values in another dtype."""
    return cast(self, dtype_of(dtype))


def detach(self: Variable) -> Any:
    """The same values, cut off from the gradient: ``detach_<name>_0``."""
    out = _copy(self, "share_data", f"detach_{self.name}")
    out.stop_gradient = True
    return out


def clone(self: Variable) -> Any:
    """A copy through which gradients flow: ``<name>_clone_0``."""
    return _copy(self, "assign", f"{self.name}_clone")


def size(self: Variable) -> Any:
    """The number of elements, as a 0-d int64 variable; ``paddle.numel(x)``."""
    return _copy(self, "size", f"{self.name}_size")


def _copy(x: Variable, op_type: str, key: str) -> Any:
    return append(x, op_type, (x,), {}, key)


@remembered
def transposed(self: AnyTensor) -> Any:
    """The dimensions in reverse order; a vector is its own transpose."""
    if self.ndim == 1:
        return self
    attrs = {"axis": tuple(reversed(range(self.ndim)))}
    keys = ("", "") if isinstance(self, Tensor) else (f"{self.name}.tmp",) * 2
    return append(self, "transpose2", (self,), attrs, *keys)


def _grad(self: Variable) -> Any:
    raise AttributeError(
        f"'{self.name}' is a variable of a static program and has no grad: append_backward returns "
        f"(parameter, gradient) pairs, and Executor.run fetches the gradient as {self.grad_name!r}"
    )


def _getitem(self: AnyTensor, index: Any) -> Any:
    """The part that *index* selects; from the first call on, :func:`gradtool.paddle._indexing.getitem` itself."""
    from . import _indexing

    for owner in (Tensor, Variable):
        setattr(owner, "__getitem__", _indexing.getitem)  # noqa: B010
    return _indexing.getitem(self, index)


def _setitem(self: Variable, index: Any, value: Any) -> None:
    raise SetItemError(
        f"x[...] = value cannot change '{self.name}': a variable of a static program has no value yet.",
        hint="use x = paddle.static.setitem(x, index, value), which makes a new variable",
    )


def _iterate(self: AnyTensor) -> Iterator[Any]:
    """The parts along the first dimension, as when unpacking ``a, b = x``."""
    if not self.ndim or self.shape[0] < 0:
        why = "its first dimension is unknown" if self.ndim else "it has no dimension"
        raise IterationError(f"cannot iterate over '{self.name}' of shape {list(self.shape)}: {why}")
    return (self[i] for i in range(self.shape[0]))


def _dim(self: AnyTensor) -> int:
    """The number of dimensions."""
    return self.ndim


def _element_size(self: AnyTensor) -> int:
    """Bytes per element."""
    return self.dtype.size


def _item(self: Variable) -> Variable:
    """The variable itself, if it has at most one dimension; its value is there only when the program runs."""
    if self.ndim > 1:
        raise TypeError(f"item() of '{self.name}': it must have at most one dimension, but its shape is {self.shape}")
    return self


def _rows_and_columns(self: AnyTensor) -> Any:
    """The last two dimensions exchanged."""
    from ._splitting import matrix_transpose

    return matrix_transpose(self)


def _positive(self: AnyTensor) -> AnyTensor:
    return self


def _negative(self: AnyTensor) -> Any:
    return append_tmp(self, "scale", (self, None, None), {"scale": -1.0})


SPECIAL: dict[str, Any] = {
    "T": property(transposed),
    "mT": property(_rows_and_columns),
    "__getitem__": _getitem,
    "__iter__": _iterate,
    "__neg__": _negative,
    "__pos__": _positive,
    "astype": astype,
    "dim": _dim,
    "element_size": _element_size,
    "ndimension": _dim,
}
"""Members that are neither binary operators nor functions of ``paddle``."""

ON_VARIABLES: dict[str, Any] = {
    "__setitem__": _setitem,
    # NumPy must not take a variable for an object to loop over: `array + variable` is this class's to answer.
    "__array_ufunc__": None,
    "clone": clone,
    "detach": detach,
    "grad": property(_grad),
    "item": _item,
    "size": size,
}
"""Those that only variables have in this form."""

BITWISE = {
    "__abs__": "abs",
    "__and__": "bitwise_and",
    "__rand__": "bitwise_and",
    "__or__": "bitwise_or",
    "__ror__": "bitwise_or",
    "__xor__": "bitwise_xor",
    "__rxor__": "bitwise_xor",
    "__invert__": "bitwise_not",
    "__lshift__": "bitwise_left_shift",
    "__rshift__": "bitwise_right_shift",
}
"""Special methods that call a function of ``paddle``."""

attach()
