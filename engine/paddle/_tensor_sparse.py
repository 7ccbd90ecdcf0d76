"""Members of tensors about sparse ones, as dense tensors have them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gradtool.engine.core.errors import UnsupportedError
from gradtool.engine.eager.tensor import Tensor


class OfSparseTensors(UnsupportedError, SystemError, NotImplementedError, TypeError):
    """Error for a member of sparse tensors only, requested of a dense one (Paddle raises one of these, by method)."""

    in_paddle = "(Fatal) (Unimplemented) (InvalidType)"  # one of them, by method


def _of_sparse(method: str, advice: str) -> Callable[[Tensor], Any]:
    def refuse(self: Tensor) -> Any:
        raise OfSparseTensors(f"x.{method}() is for sparse tensors, and '{self.name}' is dense.", hint=advice)

    refuse.__name__ = method
    refuse.__doc__ = "Of sparse tensors alone; see ``paddle.sparse``."
    return refuse


def _to_sparse_coo(self: Tensor, sparse_dim: int) -> Tensor:
    """The tensor in the form of coordinates of its first *sparse_dim* dimensions; gradients flow through it.

    Those parts are stored that are not all zero.
    """
    from .sparse._forms import to_sparse_coo

    return to_sparse_coo(self, sparse_dim)


def _to_sparse_csr(self: Tensor) -> Tensor:
    """The tensor, of 2 or 3 dimensions, in the form of compressed rows; no gradient flows through it (as in Paddle)."""
    from .sparse._forms import to_sparse_csr

    return to_sparse_csr(self)


def _coalesce(self: Tensor, name: str | None = None) -> Tensor:
    """Of sparse tensors alone; see ``paddle.sparse``."""
    return _of_sparse("coalesce", _COO)(self)  # type: ignore[no-any-return]


_COO, _CSR = "make it sparse: x.to_sparse_coo(dimensions)", "make it sparse: x.to_sparse_csr()"

SPECIAL: dict[str, Any] = {
    "coalesce": _coalesce,
    "cols": _of_sparse("cols", _CSR),
    "crows": _of_sparse("crows", _CSR),
    "dense_dim": lambda self: self.ndim,
    "indices": _of_sparse("indices", _COO),
    "is_coalesced": _of_sparse("is_coalesced", _COO),
    "nnz": _of_sparse("nnz", _COO),
    "sparse_dim": lambda self: 0,
    "to_sparse_coo": _to_sparse_coo,
    "to_sparse_csr": _to_sparse_csr,
    "values": _of_sparse("values", _COO),
}
"""Members that only tensors have."""
