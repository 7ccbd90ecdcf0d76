"""Adapters: reductions, running results, order and search, counting."""

from __future__ import annotations

from typing import Any

from tests.opinfo.table import adapter, is_tensor, named, needs

named("cumsum count_nonzero", axis="axis", dim="axis")
named("amax amin all any", dim="axis")
named("sum mean nansum nanmean", dim="axis")
named("trace diff argwhere msort renorm dist")
named("unique_consecutive", dim="axis")


@adapter("cumprod")
def _(paddle: Any, x: Any, dim: Any, dtype: Any = None) -> Any:
    return paddle.cumprod(x, dim, dtype=dtype)


@adapter("cummax")
def _(paddle: Any, x: Any, dim: Any) -> Any:
    return paddle.cummax(x, dim)


@adapter("cummin")
def _(paddle: Any, x: Any, dim: Any) -> Any:
    return paddle.cummin(x, dim)


@adapter("logcumsumexp")
def _(paddle: Any, x: Any, dim: Any) -> Any:
    return paddle.logcumsumexp(x, dim)


@adapter("logsumexp")
def _(paddle: Any, x: Any, dim: Any, keepdim: Any = False) -> Any:
    return paddle.logsumexp(x, dim, keepdim)


@adapter("prod")
def _(paddle: Any, x: Any, dim: Any = None, keepdim: Any = False, dtype: Any = None) -> Any:
    return paddle.prod(x, dim, keepdim, dtype)


@adapter("argmax")
def _(paddle: Any, x: Any, dim: Any = None, keepdim: Any = False) -> Any:
    return paddle.argmax(x, dim, keepdim)


@adapter("argmin")
def _(paddle: Any, x: Any, dim: Any = None, keepdim: Any = False) -> Any:
    return paddle.argmin(x, dim, keepdim)


@adapter("aminmax")
def _(paddle: Any, x: Any, dim: Any = None, keepdim: Any = False) -> Any:
    return paddle.amin(x, dim, keepdim), paddle.amax(x, dim, keepdim)


@adapter("max.reduction_no_dim", "max.reduction_with_dim")
def _(paddle: Any, x: Any, dim: Any = None, keepdim: Any = False) -> Any:
    if dim is None:
        return paddle.max(x)
    return paddle.max(x, dim, keepdim), paddle.argmax(x, dim, keepdim)


@adapter("min.reduction_no_dim", "min.reduction_with_dim")
def _(paddle: Any, x: Any, dim: Any = None, keepdim: Any = False) -> Any:
    if dim is None:
        return paddle.min(x)
    return paddle.min(x, dim, keepdim), paddle.argmin(x, dim, keepdim)


@adapter("median")
def _(paddle: Any, x: Any, dim: Any = None, keepdim: Any = False) -> Any:
    return paddle.median(x, dim, keepdim, mode="min")


@adapter("nanmedian")
def _(paddle: Any, x: Any, dim: Any = None, keepdim: Any = False) -> Any:
    return paddle.nanmedian(x, dim, keepdim, mode="min")


@adapter("quantile")
def _(paddle: Any, x: Any, q: Any, dim: Any = None, keepdim: Any = False, interpolation: str = "linear") -> Any:
    return paddle.quantile(x, q, dim, keepdim, interpolation)


@adapter("nanquantile")
def _(paddle: Any, x: Any, q: Any, dim: Any = None, keepdim: Any = False, interpolation: str = "linear") -> Any:
    return paddle.nanquantile(x, q, dim, keepdim, interpolation)


def spread(
    paddle: Any, function: str, x: Any, args: Any, correction: Any, unbiased: Any, dim: Any, keepdim: Any
) -> Any:
    if args:
        (first, *rest) = args
        if isinstance(first, bool) and not rest:
            unbiased = first
        else:
            dim = first
    if correction is not None:
        needs(correction in (0, 1), "a correction other than 0 and 1")
        unbiased = bool(correction)
    return getattr(paddle, function)(x, dim, True if unbiased is None else unbiased, keepdim)


for _name in ("var", "std"):

    @adapter(_name, f"{_name}.unbiased")
    def _(
        paddle: Any, x: Any, *args: Any, correction: Any = None, unbiased: Any = None, dim: Any = None,
        keepdim: Any = False, function: str = _name,
    ) -> Any:  # fmt: skip
        return spread(paddle, function, x, args, correction, unbiased, dim, keepdim)

    @adapter(f"{_name}_mean", f"{_name}_mean.unbiased")
    def _(
        paddle: Any, x: Any, *args: Any, correction: Any = None, unbiased: Any = None, dim: Any = None,
        keepdim: Any = False, function: str = _name,
    ) -> Any:  # fmt: skip
        return spread(paddle, function, x, args, correction, unbiased, dim, keepdim), paddle.mean(x, dim, keepdim)


@adapter("kthvalue")
def _(paddle: Any, x: Any, k: Any, dim: Any = -1, keepdim: Any = False) -> Any:
    return paddle.kthvalue(x, k, dim, keepdim)


@adapter("mode")
def _(paddle: Any, x: Any, dim: Any = -1, keepdim: Any = False) -> Any:
    return paddle.mode(x, dim, keepdim)


@adapter("topk")
def _(paddle: Any, x: Any, k: Any, dim: Any = -1, largest: Any = True, sorted: Any = True) -> Any:
    return paddle.topk(x, k, dim, largest, sorted)


@adapter("sort")
def _(paddle: Any, x: Any, dim: Any = -1, descending: Any = False, stable: Any = False) -> Any:
    return [paddle.sort(x, dim, descending, True), paddle.argsort(x, dim, descending, True)]


@adapter("argsort")
def _(paddle: Any, x: Any, dim: Any = -1, descending: Any = False, stable: Any = False) -> Any:
    return paddle.argsort(x, dim, descending, True)


@adapter("unique")
def _(
    paddle: Any, x: Any, sorted: Any = True, return_inverse: Any = False, return_counts: Any = False, dim: Any = None
) -> Any:
    return paddle.unique(x, return_inverse=return_inverse, return_counts=return_counts, axis=dim)


@adapter("bincount")
def _(paddle: Any, x: Any, weights: Any = None, minlength: Any = 0) -> Any:
    return paddle.bincount(x, weights, minlength)


@adapter("histc")
def _(paddle: Any, x: Any, bins: Any = 100, min: Any = 0, max: Any = 0) -> Any:
    return paddle.histogram(x, bins, min, max).astype(x.dtype)


@adapter("histogram")
def _(paddle: Any, x: Any, bins: Any, weight: Any = None, density: Any = False) -> Any:
    needs(not is_tensor(bins), "edges as a tensor")
    counts = paddle.histogram(x, bins, weight=weight, density=density)
    return counts.astype(x.dtype), paddle.histogram_bin_edges(x, bins).astype(x.dtype)


@adapter("histogramdd")
def _(paddle: Any, x: Any, bins: Any, weight: Any = None, density: Any = False) -> Any:
    return paddle.histogramdd(x, [*bins], weights=weight, density=density)


@adapter("bucketize")
def _(paddle: Any, x: Any, edges: Any, out_int32: Any = False, right: Any = False) -> Any:
    return paddle.bucketize(x, edges, out_int32, right)


@adapter("searchsorted")
def _(
    paddle: Any, edges: Any, x: Any, out_int32: Any = False, right: Any = False, side: Any = None, sorter: Any = None
) -> Any:
    needs(sorter is None, "a sorter")
    needs(is_tensor(x), "a number to look for")
    return paddle.searchsorted(edges, x, out_int32, right or side == "right")


@adapter("cov")
def _(paddle: Any, x: Any, correction: Any = 1, fweights: Any = None, aweights: Any = None) -> Any:
    needs(correction in (0, 1), "a correction other than 0 and 1")
    return paddle.linalg.cov(x, ddof=bool(correction), fweights=fweights, aweights=aweights)


@adapter("corrcoef")
def _(paddle: Any, x: Any) -> Any:
    return paddle.linalg.corrcoef(x)


@adapter("trapezoid", "trapz")
def _(paddle: Any, y: Any, x: Any = None, dx: Any = None, dim: Any = -1) -> Any:
    return paddle.trapezoid(y, x, dx, dim)


@adapter("cumulative_trapezoid")
def _(paddle: Any, y: Any, x: Any = None, dx: Any = None, dim: Any = -1) -> Any:
    return paddle.cumulative_trapezoid(y, x, dx, dim)


@adapter("nonzero")
def _(paddle: Any, x: Any, as_tuple: Any = False) -> Any:
    return paddle.nonzero(x, as_tuple=as_tuple)


@adapter("sum_to_size")
def _(paddle: Any, x: Any, *shape: Any) -> Any:
    wanted = list(shape[0]) if isinstance(shape[0], (list, tuple)) else list(shape)
    return paddle.reduce_as(x, paddle.zeros(wanted, dtype=x.dtype))
