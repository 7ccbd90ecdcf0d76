"""Adapters: products, linear algebra, Fourier transforms."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.opinfo.table import Lacks, adapter, is_tensor, named, needs

named("bmm mm mv matmul dot cross=cross linalg.cross=cross", dim="axis")
named("bmm.triton_optimized=bmm")
named("addmm addmm.decomposed=addmm baddbmm")
named("linalg.det linalg.inv linalg.matrix_power linalg.multi_dot matrix_exp linalg.eigvals", within="linalg.")
named("linalg.cond linalg.qr linalg.eig linalg.householder_product linalg.svdvals linalg.solve", within="linalg.")
named(
    "pinverse=pinv cholesky_inverse cholesky linalg.cholesky linalg.vecdot cholesky_solve", within="linalg.", dim="axis"
)
named("linalg.eigh linalg.eigvalsh", within="linalg.")


@adapter("vdot")
def _(paddle: Any, x: Any, y: Any) -> Any:
    return paddle.vecdot(x, y)


@adapter("addmv")
def _(paddle: Any, x: Any, a: Any, b: Any, beta: Any = 1, alpha: Any = 1) -> Any:
    return beta * x + alpha * paddle.mv(a, b)


@adapter("addr")
def _(paddle: Any, x: Any, a: Any, b: Any, beta: Any = 1, alpha: Any = 1) -> Any:
    return beta * x + alpha * paddle.outer(a, b)


@adapter("addbmm")
def _(paddle: Any, x: Any, a: Any, b: Any, beta: Any = 1, alpha: Any = 1) -> Any:
    return beta * x + alpha * paddle.bmm(a, b).sum(0)


@adapter("einsum")
def _(paddle: Any, operands: Any, equation: str) -> Any:
    return paddle.einsum(equation, *operands)


@adapter("tensordot")
def _(paddle: Any, x: Any, y: Any, dims: Any = 2) -> Any:
    return paddle.tensordot(x, y, dims)


@adapter("cdist")
def _(paddle: Any, x: Any, y: Any, p: Any = 2.0, mode: str = "use_mm_for_euclid_dist_if_necessary") -> Any:
    return paddle.cdist(x, y, p, mode)


@adapter("nn.functional.pdist")
def _(paddle: Any, x: Any, p: Any = 2.0) -> Any:
    return paddle.pdist(x, p)


@adapter("linalg.lu")
def _(paddle: Any, x: Any, pivot: Any = True) -> Any:
    needs(pivot, "no pivots")
    packed, pivots = paddle.linalg.lu(x)
    return paddle.linalg.lu_unpack(packed, pivots)


@adapter("lu")
def _(paddle: Any, x: Any, pivot: Any = True, get_infos: Any = False) -> Any:
    needs(pivot, "no pivots")
    return paddle.linalg.lu(x, pivot, get_infos)


@adapter("linalg.lu_factor")
def _(paddle: Any, x: Any, pivot: Any = True) -> Any:
    needs(pivot, "no pivots")
    return paddle.linalg.lu(x)


@adapter("lu_unpack")
def _(paddle: Any, packed: Any, pivots: Any, unpack_data: Any = True, unpack_pivots: Any = True) -> Any:
    return paddle.linalg.lu_unpack(packed, pivots, unpack_data, unpack_pivots)


@adapter("lu_solve")
def _(paddle: Any, b: Any, packed: Any, pivots: Any) -> Any:
    return paddle.linalg.lu_solve(b, packed, pivots)


@adapter("linalg.lu_solve")
def _(paddle: Any, packed: Any, pivots: Any, b: Any, left: Any = True, adjoint: Any = False) -> Any:
    needs(left, "left=False")
    return paddle.linalg.lu_solve(b, packed, pivots, "C" if adjoint else "N")


@adapter("linalg.inv_ex")
def _(paddle: Any, x: Any) -> Any:
    raise Lacks("errors as a result")


@adapter("linalg.solve_triangular")
def _(paddle: Any, a: Any, b: Any, upper: Any, left: Any = True, unitriangular: Any = False) -> Any:
    needs(left, "left=False")
    return paddle.linalg.triangular_solve(a, b, upper=upper, unitriangular=unitriangular)


@adapter("triangular_solve")
def _(paddle: Any, b: Any, a: Any, upper: Any = True, transpose: Any = False, unitriangular: Any = False) -> Any:
    return paddle.linalg.triangular_solve(a, b, upper, transpose, unitriangular), a


@adapter("linalg.lstsq.grad_oriented", "linalg.lstsq")
def _(paddle: Any, a: Any, b: Any, driver: Any = None) -> Any:
    return paddle.linalg.lstsq(a, b, driver=driver)


@adapter("linalg.matrix_rank", "linalg.matrix_rank.hermitian")
def _(paddle: Any, x: Any, atol: Any = None, rtol: Any = None, hermitian: Any = False) -> Any:
    return paddle.linalg.matrix_rank(x, None, hermitian, atol=atol, rtol=rtol)


@adapter("linalg.pinv", "linalg.pinv.hermitian")
def _(paddle: Any, x: Any, rtol: Any = None, hermitian: Any = False) -> Any:
    needs(not is_tensor(rtol) or rtol.size == 1, "a tolerance for each matrix")
    return paddle.linalg.pinv(x, 1e-15 if rtol is None else rtol, hermitian)


@adapter("linalg.pinv.singular")
def _(paddle: Any, a: Any, b: Any) -> Any:
    rows, columns = a.shape[-2], b.shape[-2]
    last = len(b.shape) - 1
    tolerance = max(rows, columns) * float(np.finfo(str(a.dtype).rpartition(".")[2]).eps)
    return paddle.linalg.pinv(a @ paddle.transpose(b, [*range(last - 1), last, last - 1]), tolerance)


@adapter("linalg.slogdet")
def _(paddle: Any, x: Any) -> Any:
    both = paddle.linalg.slogdet(x)
    return both[0], both[1]


@adapter("linalg.svd")
def _(paddle: Any, x: Any, full_matrices: Any = True) -> Any:
    return paddle.linalg.svd(x, full_matrices)


@adapter("svd")
def _(paddle: Any, x: Any, some: Any = True) -> Any:
    u, s, vh = paddle.linalg.svd(x, not some)
    return u, s, paddle.transpose(vh, [*range(len(vh.shape) - 2), len(vh.shape) - 1, len(vh.shape) - 2]).conj()


@adapter("qr")
def _(paddle: Any, x: Any, some: Any = True) -> Any:
    return paddle.linalg.qr(x, "reduced" if some else "complete")


@adapter("ormqr")
def _(paddle: Any, x: Any, tau: Any, y: Any, left: Any = True, transpose: Any = False) -> Any:
    return paddle.linalg.ormqr(x, tau, y, left, transpose)


@adapter("logdet")
def _(paddle: Any, x: Any) -> Any:
    return paddle.log(paddle.linalg.det(x))


@adapter("linalg.norm", "linalg.norm.subgradients_at_zero")
def _(paddle: Any, x: Any, ord: Any = None, dim: Any = None, keepdim: Any = False) -> Any:
    return norm(paddle, x, ord, dim, keepdim)


def norm(paddle: Any, x: Any, ord: Any, dim: Any, keepdim: Any) -> Any:
    """Paddle's ``norm`` without an axis is that of all elements; of two axes its 2-norm is spectral."""
    if dim is None and ord is not None and len(x.shape) == 2:
        dim = (0, 1)
    pair = isinstance(dim, (list, tuple)) and len(dim) == 2
    if ord is None:
        return paddle.linalg.vector_norm(x, 2.0, dim, keepdim)
    if pair or isinstance(ord, str):
        return paddle.linalg.matrix_norm(x, ord, list(dim) if dim is not None else [-2, -1], keepdim)
    return paddle.linalg.vector_norm(x, ord, dim, keepdim)


@adapter("norm", "norm.inf")
def _(paddle: Any, x: Any, p: Any = "fro", dim: Any = None, keepdim: Any = False) -> Any:
    return paddle.linalg.vector_norm(x, 2.0 if p == "fro" else p, dim, keepdim)


@adapter("norm.fro")
def _(paddle: Any, x: Any, p: Any = "fro", dim: Any = None, keepdim: Any = False) -> Any:
    return paddle.linalg.norm(x, "fro", dim, keepdim)


@adapter("norm.nuc")
def _(paddle: Any, x: Any, p: Any = "nuc", dim: Any = None, keepdim: Any = False) -> Any:
    return paddle.linalg.matrix_norm(x, "nuc", dim or [-2, -1], keepdim)


@adapter("linalg.matrix_norm")
def _(paddle: Any, x: Any, ord: Any = "fro", dim: Any = (-2, -1), keepdim: Any = False) -> Any:
    return paddle.linalg.matrix_norm(x, ord, list(dim), keepdim)


@adapter("linalg.vector_norm")
def _(paddle: Any, x: Any, ord: Any = 2.0, dim: Any = None, keepdim: Any = False) -> Any:
    return paddle.linalg.vector_norm(x, ord, dim, keepdim)


for _name in ["fft", "ifft", "rfft", "irfft", "hfft", "ihfft"]:

    @adapter(f"fft.{_name}")
    def _(paddle: Any, x: Any, n: Any = None, dim: Any = -1, norm: Any = None, f: str = _name) -> Any:
        return getattr(paddle.fft, f)(x, n, dim, norm or "backward")

    @adapter(f"fft.{_name}2")
    def _(paddle: Any, x: Any, s: Any = None, dim: Any = (-2, -1), norm: Any = None, f: str = _name) -> Any:
        return getattr(paddle.fft, f"{f}2")(x, s, dim, norm or "backward")

    @adapter(f"fft.{_name}n")
    def _(paddle: Any, x: Any, s: Any = None, dim: Any = None, norm: Any = None, f: str = _name) -> Any:
        return getattr(paddle.fft, f"{f}n")(x, s, dim, norm or "backward")


for _name in ("fftshift", "ifftshift"):

    @adapter(f"fft.{_name}")
    def _(paddle: Any, x: Any, dim: Any = None, f: str = _name) -> Any:
        return getattr(paddle.fft, f)(x, dim)
