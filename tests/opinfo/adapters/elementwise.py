"""Adapters: functions of elements, comparisons, arithmetic."""

from __future__ import annotations

from typing import Any

from tests.opinfo.table import Differs, Lacks, adapter, is_tensor, named, needs

named(
    "abs acos acosh angle asin asinh atan atanh ceil conj "
    "conj_physical=conj cos cosh deg2rad digamma erf erfinv exp expm1 "
    "floor frac i0 special.i0e special.i1 special.i1e imag isfinite isinf isnan isneginf isposinf isreal lgamma "
    "log log10 log1p log2 logical_not neg positive rad2deg real reciprocal rsqrt sgn sigmoid sign signbit "
    "sin sinc sinh sqrt square tan tanh trunc bitwise_not view_as_real view_as_complex clone nan_to_num"
)
named(
    "atan2 copysign eq=equal fmax fmin ge=greater_equal gt=greater_than heaviside hypot le=less_equal lt=less_than "
    "logaddexp logical_and logical_or logical_xor maximum minimum "
    "max.binary=maximum min.binary=minimum mul=multiply ne=not_equal nextafter "
    "remainder bitwise_and bitwise_or bitwise_xor bitwise_left_shift bitwise_right_shift gcd lcm polar complex "
    "pow floor_divide igamma=gammainc igammac=gammaincc lerp"
)
named("isclose allclose masked_fill masked_scatter masked_select")
named("round round.decimals_0=round round.decimals_3=round round.decimals_neg_3=round")
named("contiguous=clone resolve_conj=clone resolve_neg=clone")
named("div.trunc_rounding=div div.floor_rounding=div")


@adapter("add")
def _(paddle: Any, x: Any, y: Any, alpha: Any = 1) -> Any:
    return x + y * alpha if alpha != 1 else paddle.add(x, y)


@adapter("sub")
def _(paddle: Any, x: Any, y: Any, alpha: Any = 1) -> Any:
    return paddle.sub(x, y, alpha=alpha)


@adapter("rsub")
def _(paddle: Any, x: Any, y: Any, alpha: Any = 1) -> Any:
    return paddle.sub(y, x, alpha=alpha)


@adapter("true_divide", "div.no_rounding_mode")
def _(paddle: Any, x: Any, y: Any, rounding_mode: Any = None) -> Any:
    if str(x.dtype).endswith("bool"):
        raise Differs("a quotient of truth values is one")
    return paddle.divide(x, y)


@adapter("fmod")
def _(paddle: Any, x: Any, y: Any) -> Any:
    raise Lacks("remainder with the sign of the dividend")


@adapter("__radd__")
def _(paddle: Any, x: Any, y: Any) -> Any:
    return x.__radd__(y)


@adapter("__rdiv__")
def _(paddle: Any, x: Any, y: Any) -> Any:
    return x.__rtruediv__(y)


@adapter("__rmul__")
def _(paddle: Any, x: Any, y: Any) -> Any:
    return x.__rmul__(y)


@adapter("__rsub__")
def _(paddle: Any, x: Any, y: Any) -> Any:
    return x.__rsub__(y)


@adapter("__rpow__")
def _(paddle: Any, x: Any, y: Any) -> Any:
    return x.__rpow__(y)


@adapter("__rmod__")
def _(paddle: Any, x: Any, y: Any) -> Any:
    return y % x


@adapter("__rmatmul__")
def _(paddle: Any, x: Any, y: Any) -> Any:
    return y @ x


@adapter("__rand__")
def _(paddle: Any, x: Any, y: Any) -> Any:
    return y & x


@adapter("__ror__")
def _(paddle: Any, x: Any, y: Any) -> Any:
    return y | x


@adapter("__rxor__")
def _(paddle: Any, x: Any, y: Any) -> Any:
    return y ^ x


@adapter("clamp")
def _(paddle: Any, x: Any, min: Any = None, max: Any = None) -> Any:
    for bound in (min, max):
        needs(not is_tensor(bound) or bound.size == 1, "bounds with more than one element")
    return paddle.clip(x, min, max)


@adapter("clamp_max")
def _(paddle: Any, x: Any, max: Any) -> Any:
    needs(not is_tensor(max) or max.size == 1, "bounds with more than one element")
    return paddle.clip(x, None, max)


@adapter("clamp_min")
def _(paddle: Any, x: Any, min: Any) -> Any:
    needs(not is_tensor(min) or min.size == 1, "bounds with more than one element")
    return paddle.clip(x, min, None)


@adapter("addcmul")
def _(paddle: Any, x: Any, a: Any, b: Any, value: Any = 1) -> Any:
    return x + value * a * b


@adapter("addcdiv")
def _(paddle: Any, x: Any, a: Any, b: Any, value: Any = 1) -> Any:
    return x + value * a / b


@adapter("logit")
def _(paddle: Any, x: Any, eps: Any = None) -> Any:
    return paddle.logit(x, eps)


@adapter(*(f"polygamma.polygamma_n_{n}" for n in range(5)), "special.polygamma.special_polygamma_n_0")
def _(paddle: Any, x: Any, n: Any) -> Any:
    if is_tensor(n):
        x, n = n, x
    return paddle.polygamma(x, n)


@adapter(*(f"mvlgamma.mvlgamma_p_{p}" for p in (1, 3, 5)))
def _(paddle: Any, x: Any, p: Any) -> Any:
    return paddle.multigammaln(x, p)


@adapter("frexp")
def _(paddle: Any, x: Any) -> Any:
    return paddle.frexp(x)


@adapter("ldexp")
def _(paddle: Any, x: Any, y: Any) -> Any:
    needs(not paddle.is_complex(x), "complex numbers")
    return paddle.ldexp(x, y)


@adapter("isin")
def _(paddle: Any, x: Any, values: Any, **options: Any) -> Any:
    return paddle.isin(x, values, **options)


@adapter("equal")
def _(paddle: Any, x: Any, y: Any) -> Any:
    return paddle.equal_all(x, y)


@adapter("exp2")
def _(paddle: Any, x: Any) -> Any:
    return 2.0**x


@adapter("erfc")
def _(paddle: Any, x: Any) -> Any:
    return 1 - paddle.erf(x)


for _name, _type in {
    "bool": "bool", "byte": "uint8", "char": "int8", "double": "float64", "float": "float32", "int": "int32",
    "long": "int64", "short": "int16", "cdouble": "complex128", "cfloat": "complex64", "half": "float16",
}.items():  # fmt: skip

    @adapter(_name)
    def _(paddle: Any, x: Any, type_: str = _type, **_rest: Any) -> Any:
        return x.astype(type_)


@adapter("to")
def _(paddle: Any, x: Any, *args: Any, **_rest: Any) -> Any:
    for value in args:
        if is_tensor(value):
            return x.astype(value.dtype)
        if isinstance(value, str) and value.startswith(("float", "int", "bool", "complex", "uint")):
            return x.astype(value)
    return x.clone()


@adapter("softmax", "softmax.with_dtype")
def _(paddle: Any, x: Any, dim: Any, dtype: Any = None) -> Any:
    return paddle.nn.functional.softmax(x, dim, dtype)


@adapter("log_softmax", "log_softmax.with_dtype")
def _(paddle: Any, x: Any, dim: Any, dtype: Any = None) -> Any:
    return paddle.nn.functional.log_softmax(x, dim, dtype)


@adapter("nn.functional.softmin", "nn.functional.softmin.with_dtype")
def _(paddle: Any, x: Any, dim: Any, dtype: Any = None) -> Any:
    return paddle.nn.functional.softmax(-x, dim, dtype)
