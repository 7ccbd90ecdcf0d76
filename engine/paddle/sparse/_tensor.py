"""``SparseTensor``: the places of some elements, and a tensor of their values that is on the tape."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np

from gradtool.engine.core.errors import DtypeError, ShapeError, UnsupportedError
from gradtool.engine.core.spec import DType, TensorSpec
from gradtool.engine.eager.tensor import HookHandle, Tensor
from gradtool.paddle._printing import INDENT, values_text
from gradtool.paddle.device import CPUPlace

from ...engine.core.identity import identity
from . import _places
from ._places import Array

COO, CSR = "COO", "CSR"
"""The formats: a coordinate list, and compressed rows."""


class NotSparse(UnsupportedError, NotImplementedError):
    """A dense tensor where a sparse one belongs, or one of another format (Paddle raises NotImplementedError)."""

    in_paddle = "(Unimplemented)"


class NotDense(UnsupportedError, NotImplementedError):
    """A sparse tensor where a dense one belongs (Paddle raises by function, or ends the process)."""


class WrongFormat(UnsupportedError, SystemError):
    """Error for a member that only sparse tensors, or those of one format, have (Paddle raises SystemError)."""

    in_paddle = "(Fatal) this method is only effective for"


class OfOtherPlaces(ShapeError):
    """A gradient that stands at other places than its tensor."""


def _of_carrier(name: str) -> Any:
    """An attribute that a sparse tensor has from its values."""

    def get(self: SparseTensor) -> Any:
        return getattr(self.carrier, name)

    def put(self: SparseTensor, value: Any) -> None:
        setattr(self.carrier, name, value)

    return property(get, put)


class SparseTensor(Tensor):
    """A tensor of which some elements are stored; the others are zero.

    Its values are a tensor of their own, and that one is on the tape: functions of sparse tensors are functions of the
    values, and the places are constants. The gradient of a sparse tensor is sparse, with the same places.

    Args:
        values: ``[nnz, …]``, what stands at each place.
        places: the coordinates ``[dimensions, nnz]`` (COO), or row ends and columns (CSR).
        shape: of the tensor; what follows the dimensions of the places are those of a value.
        coalesced: no place occurs twice, and they are in order.
    """

    __slots__ = ("_sizes", "_values", "coalesced", "format", "places")

    def __init__(self, values: Tensor, places: tuple[Array, ...], shape: tuple[int, ...], coalesced: bool) -> None:
        self._values = values
        self.places = places
        self.format = COO if len(places) == 1 else CSR
        self._sizes = shape
        self.coalesced = coalesced

    # -- how it is made of values and places -----------------------------------------------------------------------

    @property
    def carrier(self) -> Tensor:
        return self._values

    @property
    def array(self) -> Any:
        raise NotDense(
            f"'{self.name}' is a sparse tensor ({self.format}, shape {list(self._sizes)}), and this takes dense ones.",
            hint="use the function of paddle.sparse, or x.to_dense(); its elements that are stored are x.values()",
        )

    @property
    def coordinates(self) -> Array:
        """``[dimensions, nnz]``, for both formats."""
        if self.format == COO:
            return self.places[0]
        return _places.expanded(self.places[0], self.places[1], self._sizes)

    @property
    def placed_sizes(self) -> tuple[int, ...]:
        """The sizes of the dimensions that places have; the others are those of a value."""
        return self._sizes[: self.sparse_dim()]

    @property
    def numbers(self) -> Array:
        """Each place as one number."""
        return _places.numbered(self.coordinates, self.placed_sizes)

    def of_values(self, values: Any) -> SparseTensor:
        """A tensor with the same places and other values."""
        shape = (*self.placed_sizes, *values.array.shape[1:])
        return SparseTensor(values, self.places, shape, self.coalesced)

    def carried(self, values: Tensor) -> Tensor:
        return self.of_values(values)

    def seed(self, gradient: Tensor) -> Tensor:
        """The values of *gradient*, in the order of this tensor's places.

        Raises:
            NotSparse: it is dense.
            OfOtherPlaces: it stands at other places (a ValueError).
        """
        if not isinstance(gradient, SparseTensor):
            raise NotSparse(
                f"the gradient of the sparse tensor '{self.name}' must be sparse, with its places, but it is dense.",
                hint="use paddle.sparse.mask_as(gradient, x)",
            )
        if gradient.shape != self.shape:
            return gradient.carrier if gradient.carrier.array.shape != self.carrier.array.shape else _other(self)
        mine, its = self.numbers, gradient.numbers
        if np.array_equal(mine, its):
            return gradient.carrier
        at = _places.found(mine, its)
        if len(mine) != len(its) or len(np.unique(its)) != len(its) or (len(at) and at.max() >= len(its)):
            return _other(self)  # type: ignore[no-any-return]
        from gradtool.paddle._gather import gather

        return gather(gradient.carrier, Tensor(at))  # type: ignore[return-value]

    _leaf = _of_carrier("_leaf")
    _name = _of_carrier("_name")
    _stop = _of_carrier("_stop")
    _version = _of_carrier("_version")
    index = _of_carrier("index")
    loc = _of_carrier("loc")
    name = _of_carrier("name")
    node = _of_carrier("node")
    persistable = _of_carrier("persistable")
    stop_gradient = _of_carrier("stop_gradient")

    def tape_place(self) -> Any:
        return self.carrier.tape_place()

    # -- what it is ------------------------------------------------------------------------------------------------

    @property
    def dtype(self) -> DType:
        return self.carrier.dtype

    @property
    def spec(self) -> TensorSpec:
        return TensorSpec(self._sizes, self.carrier.array.dtype)

    @property
    def shape(self) -> list[int]:
        """The dimensions."""
        return list(self._sizes)

    @property
    def ndim(self) -> int:
        return len(self._sizes)

    @property
    def size(self) -> int:
        """The number of elements, those that are not stored included."""
        return int(np.prod(self._sizes))

    @property
    def place(self) -> CPUPlace:
        """Place where it is stored."""
        return CPUPlace()

    def dim(self) -> int:
        """The number of dimensions."""
        return self.ndim

    ndimension = rank = dim

    def __len__(self) -> int:
        return self._sizes[0]

    def is_dense(self) -> bool:
        return False

    def is_selected_rows(self) -> bool:
        return False

    def is_sparse(self) -> bool:
        """Return True: it is sparse."""
        return True

    def is_sparse_coo(self) -> bool:
        """Return whether it is sparse in the form of coordinates."""
        return self.format == COO

    def is_sparse_csr(self) -> bool:
        """Return whether it is sparse in the form of compressed rows."""
        return self.format == CSR

    def is_coalesced(self) -> bool:
        """Return whether no place is known to occur twice.

        Raises:
            WrongFormatType: the tensor is no sparse one in COO (a TypeError).
        """
        if self.format != COO:
            raise DtypeError("Method is_coalesced only support sparse coo tensor.")
        return self.coalesced

    def sparse_dim(self) -> int:
        """Return the number of dimensions of the places."""
        return len(self.places[0]) if self.format == COO else len(self._sizes)

    def dense_dim(self) -> int:
        """Return the number of dimensions of each value."""
        return self.ndim - self.sparse_dim()

    def nnz(self) -> int:
        """Return the number of stored elements."""
        return len(self.carrier.array)

    def indices(self) -> Tensor:
        """The coordinates ``[sparse_dim, nnz]``.

        Raises:
            WrongFormat: the tensor is in CSR (a SystemError).
        """
        self._need(COO, "indices")
        return Tensor(self.places[0])

    def crows(self) -> Tensor:
        """Of each matrix where its rows begin and the last one ends.

        Raises:
            WrongFormat: the tensor is in COO (a SystemError).
        """
        self._need(CSR, "crows")
        return Tensor(self.places[0])

    def cols(self) -> Tensor:
        """The columns of the values.

        Raises:
            WrongFormat: the tensor is in COO (a SystemError).
        """
        self._need(CSR, "cols")
        return Tensor(self.places[1])

    def _need(self, form: str, method: str) -> None:
        if self.format != form:
            raise WrongFormat(
                f"x.{method}() is for sparse tensors in {form}, and '{self.name}' is in {self.format}.",
                hint="convert it with x.to_sparse_coo(2)" if form == COO else "convert it with x.to_sparse_csr()",
            )

    def values(self) -> Tensor:
        """The elements that are stored, ``[nnz, …]``; gradients flow through them."""
        from ._operands import passed

        return passed(self.carrier)

    def __repr__(self) -> str:
        rows: list[tuple[str, Any]] = [*zip(("crows", "cols"), self.places, strict=False)]
        rows = [("indices", self.places[0])] if self.format == COO else rows
        listed = [
            f"{name}={values_text(v, INDENT + len(name) + 1)}" for name, v in (*rows, ("values", self.carrier.array))
        ]
        head = (
            f"Tensor(shape={self.shape}, dtype={self.dtype.name}, place=Place(cpu), stop_gradient={self.stop_gradient},"
        )
        return (",\n" + " " * INDENT).join([head.removesuffix(","), *listed]) + ")"

    __str__ = __repr__

    def __format__(self, spec: str) -> str:
        return format(repr(self), spec)

    def __bool__(self) -> bool:
        return bool(self.array)

    __hash__ = Tensor.__hash__

    # -- its gradient ----------------------------------------------------------------------------------------------

    @property
    def grad(self) -> Tensor | None:
        """The accumulated gradient, sparse, with the places of this tensor; or None."""
        gradient = self.carrier.grad
        return None if gradient is None else self.of_values(gradient)

    @grad.setter
    def grad(self, value: Tensor | None) -> None:
        self.carrier.grad = value if not isinstance(value, Tensor) else self.seed(value)

    def gradient(self) -> Any:
        """The gradient's values, or None."""
        return self.carrier.gradient()

    def clear_gradient(self, set_to_zero: bool = True) -> None:
        self.carrier.clear_gradient(set_to_zero)

    def register_hook(self, hook: Callable[[Tensor], Tensor | None]) -> HookHandle:
        """Call *hook* with the whole gradient, a sparse tensor, whenever backward has computed it."""
        if not callable(hook):
            return self.carrier.register_hook(hook)

        def of_values(gradient: Tensor) -> Tensor | None:
            result = hook(self.of_values(gradient))
            return self.seed(result) if isinstance(result, Tensor) else result

        return self.carrier.register_hook(of_values)

    def _register_backward_hook(self, hook: Callable[[], None]) -> HookHandle:
        return self.carrier._register_backward_hook(hook)

    def retain_grads(self) -> None:
        self.carrier.retain_grads()

    def detach(self) -> Tensor:
        """The same places and the same storage of values, as a leaf that stops gradients."""
        return SparseTensor(self.carrier.detach(), self.places, self._sizes, self.coalesced)

    def clone(self) -> Tensor:
        """A copy through which gradients flow."""
        return self.of_values(self.carrier.clone())

    def __deepcopy__(self, memo: dict[int, Any]) -> Tensor:
        """A leaf of its own with the same places and values."""
        places = tuple(p.copy() for p in self.places)
        copied = SparseTensor(copy.deepcopy(self.carrier, memo), places, self._sizes, self.coalesced)
        memo[identity(self)] = copied
        return copied

    def set_value(self, value: Any) -> None:
        """Replace the values by those of a sparse tensor with the same places."""
        self.carrier.set_value(self.seed(value) if isinstance(value, Tensor) else value)

    # -- in other forms --------------------------------------------------------------------------------------------

    def coalesce(self, name: str | None = None) -> Tensor:
        """:func:`gradtool.paddle.sparse.coalesce` of it."""
        from ._shaping import coalesce

        return coalesce(self)

    def to_dense(self) -> Tensor:
        """All elements; where a place occurs several times, the sum of its values."""
        from ._forms import to_dense

        return to_dense(self)

    def to_sparse_coo(self, sparse_dim: int) -> Tensor:
        """The same tensor in the form of coordinates."""
        from ._forms import to_sparse_coo

        return to_sparse_coo(self, sparse_dim)

    def to_sparse_csr(self) -> Tensor:
        """The same tensor in the form of compressed rows, as a leaf: no gradient flows on (as in Paddle)."""
        from ._forms import to_sparse_csr

        return to_sparse_csr(self)

    def cpu(self) -> Tensor:
        """The tensor itself: there is one place."""
        return self

    def is_same_shape(self, y: Tensor) -> bool:
        """Return whether *y* has the same shape."""
        return self.shape == list(y.shape)


def _other(tensor: SparseTensor) -> Any:
    raise OfOtherPlaces(
        f"the gradient of the sparse tensor '{tensor.name}' stands at other places than its {tensor.nnz()} elements.",
        hint="use a gradient with the places of the tensor: paddle.sparse.mask_as(gradient.to_dense(), x)",
    )


FUNCTIONS = {"+": "add", "-": "subtract", "*": "multiply", "/": "divide", "@": "matmul", "**": "pow"}
"""Operators that sparse tensors do not have in Paddle either, and the functions of ``paddle.sparse`` to use."""

OPERATORS = {
    "__add__": "+",
    "__radd__": "+",
    "__sub__": "-",
    "__rsub__": "-",
    "__mul__": "*",
    "__rmul__": "*",
    "__truediv__": "/",
    "__rtruediv__": "/",
    "__matmul__": "@",
    "__rmatmul__": "@",
    "__pow__": "**",
    "__rpow__": "**",
    "__neg__": "-",
    "__mod__": "%",
    "__floordiv__": "//",
    "__getitem__": "x[…]",
    "__setitem__": "x[…] = y",
    "__iter__": "for … in x",
    "__contains__": "in",
    "__lt__": "<",
    "__le__": "<=",
    "__gt__": ">",
    "__ge__": ">=",
}
"""Their methods and signs, and those of operators without a function."""


def _without_operator(method: str, sign: str) -> Any:
    function = "neg" if method == "__neg__" else FUNCTIONS.get(sign)
    advice = f"use paddle.sparse.{function}" if function else "compute with x.to_dense() or x.values()"

    def refuse(self: SparseTensor, *_: Any) -> Any:
        raise NotDense(f"sparse tensors have no operator '{sign}', as in Paddle.", hint=advice)

    refuse.__name__ = method
    refuse.__doc__ = f"Refused: {advice}."
    return refuse


for _method, _sign in OPERATORS.items():
    setattr(SparseTensor, _method, _without_operator(_method, _sign))
