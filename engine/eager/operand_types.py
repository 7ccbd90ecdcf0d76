"""Operands that are not float32 or float64 throughout: cast, taken as they are or refused (``ops/types.py``)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from ..core.errors import GradtoolError
from ..core.spec import DType, dtype
from ..ops import rare_types, types
from ..ops.opdef import Array, OpDef, Operand, specs_of
from ..ops.registry import get_by_type
from .rare_calls import explain_failure

if TYPE_CHECKING:
    from .recipe import BoundOp


class Fit(NamedTuple):
    """Kernel and casts for operands of certain types.

    Attributes:
        casts: by operand: the type that it is cast to (in a list, for a list), or None.
        settles: the types that the results must have, where the kernel need not give these by itself.
    """

    casts: tuple[Any, ...] | None
    settles: tuple[Any, ...] | None


def fit_kernel(call: BoundOp, operands: Sequence[Operand], arrays: Sequence[Operand]) -> tuple[Any, Sequence[Operand]]:
    """The kernel of *call* for operands of these types, and the operands to call it with.

    Args:
        arrays: those of *operands*.

    Raises:
        DtypeError: the operator does not take them.
    """
    key = tuple([kind_of(a, _type) for a in arrays])
    fit = call.fits.get(key)
    if fit is None:
        fit = call.fits[key] = _fit(call, arrays)
    if fit.casts is not None:
        operands = [_cast(v, kind) for v, kind in zip(operands, fit.casts, strict=True)]
    return call.kernel if fit.settles is None else _settle_results(call.kernel, fit.settles), operands


def kind_of(operand: Any, read: Callable[[Any], Any]) -> Any:
    """Return the part of a key that represents an operand: what *read* gives for it, or for each entry of a list."""
    if operand is None:
        return None
    if isinstance(operand, (list, tuple)):
        return tuple([kind_of(v, read) for v in operand])
    return read(operand)


def _type(array: Array) -> tuple[Any, bool]:
    """Return the type that an operand contributes: numbers without dimensions give way to others."""
    return array.dtype, not array.ndim


def _fit(call: BoundOp, arrays: Sequence[Operand]) -> Fit:
    op: OpDef = call.recipe.op
    specs = specs_of(arrays)
    try:
        computed = types.compute_specs(op, specs)
        settles = _settles(op, specs, computed, call.attrs)
    except GradtoolError as error:
        raise explain_failure(call, list(arrays), error) from None
    casts = None if computed is specs else tuple(map(_difference, specs, computed))
    return Fit(casts, settles)


def _difference(spec: Any, wanted: Any) -> Any:
    if isinstance(spec, (list, tuple)):
        return [_difference(g, w) for g, w in zip(spec, wanted, strict=True)]
    return None if spec is wanted else wanted.dtype


def _settles(op: OpDef, specs: Sequence[Any], computed: Sequence[Any], attrs: Any) -> tuple[Any, ...] | None:
    """The types of the results, where the operator counts in whole numbers or truth values."""
    if op.takes.stay is None or types.plain(op, computed) or any(s.dtype.is_rare for s in rare_types.each(computed)):
        return None
    return tuple(rare_types.map_nested(lambda s: s.dtype, s) for s in op.infer_specs(specs, attrs))


def _settle_results(kernel: Callable[..., Any], kinds: tuple[DType | None, ...]) -> Callable[..., Any]:
    def run(*arrays: Any) -> Any:
        result = kernel(*arrays)
        if len(kinds) == 1:
            return rare_types.settle(result, kinds[0])
        return tuple(map(rare_types.settle, result, kinds))

    return run


def _cast(value: Any, kind: Any) -> Any:
    """A tensor in the type *kind*, by a recorded cast, or a list of them; as it is where that is None."""
    if kind is None or value is None:
        return value
    if isinstance(kind, list):
        return [_cast(v, k) for v, k in zip(value, kind, strict=True)]
    from .recipe import recipes

    recipe = recipes[get_by_type("cast")]
    return recipe.record(recipe.bind({"in_dtype": dtype(value.array.dtype).code, "out_dtype": kind.code}), value)
