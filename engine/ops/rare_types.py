"""Operators on numbers of the rare types, 16 bits or complex, without a line for them in any kernel or most rules.

**float16 and bfloat16** are types to store numbers in. An operator computes in float32, as do the libraries that users
compare with, and rounds each result once; sums and norms do not get stuck where the next term is less than half a unit.

**Complex** gradients follow the convention ``g(x) = ∂L/∂Re x + i·∂L/∂Im x`` for a real loss L, as in Paddle and
PyTorch. For a function with a complex derivative that is ``conj(f'(x))·g(out)``. A rule written for real numbers gives
``f'(x)·dout``, and ``conj(f'(x)·conj(g(out)))`` is the same: conjugating before and after is all that such an operator
needs (:attr:`Trait.HOLOMORPHIC`). Where a function has no complex derivative its rule must know the convention
(:attr:`Trait.COMPLEX`). Operators that say neither refuse complex numbers.

Who runs kernels and rules comes here only when a rare type is in use (:data:`gradtool.engine.core.spec.in_use`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..core.errors import DtypeError
from ..core.spec import DType, TensorSpec, dtype, float32, rare_arrays
from . import types
from .trait import Trait

if TYPE_CHECKING:
    from .opdef import Namespace, OpDef, Operand


def each(operands: Sequence[Operand]) -> list[Any]:
    """All tensors among *operands*, lists laid flat."""
    flat: list[Any] = []
    for v in operands:
        flat.extend(v) if isinstance(v, (list, tuple)) else flat.append(v)
    return [v for v in flat if v is not None]


def map_nested(function: Callable[..., Any], value: Any, *others: Any) -> Any:
    """*function* of a tensor, or of each one in a list; None stays None."""
    if isinstance(value, (list, tuple)):
        rows = zip(*[o if isinstance(o, (list, tuple)) else [o] * len(value) for o in others], strict=True)
        return [
            map_nested(function, v, *row) for v, row in zip(value, rows if others else [()] * len(value), strict=True)
        ]
    return None if value is None else function(value, *others)


def allows_complex(op: OpDef) -> bool:
    """Return whether *op*, or for a gradient operator what it differentiates, takes complex numbers."""
    while op.forward is not None:
        op = op.forward
    return bool(op.trait & (Trait.MOVES | Trait.HOLOMORPHIC | Trait.COMPLEX))


def expect_complex_allowed(op: OpDef, specs: Sequence[Any]) -> None:
    """Raise :class:`DtypeError` if one of *specs* is complex and *op* does not take complex numbers."""
    if allows_complex(op):
        return
    for spec in each(specs):
        if spec.dtype.is_complex:
            raise DtypeError(
                f"{op.type} does not take complex numbers, but received {spec}.",
                hint="compute with the parts, paddle.real(x) and paddle.imag(x), or with paddle.abs(x)",
            )


def expect_complex_kept(op: OpDef, specs: Sequence[Any], results: Sequence[Any]) -> None:
    """Raise :class:`DtypeError` if complex numbers would be written into a real result of *op*."""
    deciding = each([specs[i] for i in op.takes.places if i < len(specs)]) if op.trait & Trait.MOVES else each(specs)
    if op.trait & (Trait.COMPLEX | Trait.LIKE) or not any(s.dtype.is_complex for s in deciding):
        return
    if any(s.dtype.is_floating for s in each(results)):
        operands = ", ".join(str(s) for s in each(specs))
        raise DtypeError(
            f"{op.type}: the result is real and an operand is complex ({operands}).",
            hint="cast the real ones, as in x.astype('complex64')",
        )


def widen(operands: Sequence[Operand]) -> list[Operand]:
    """*operands* with float32 in the place of types of 16 bits."""
    wide = float32.numpy
    return [map_nested(lambda a: a.astype(wide) if dtype(a.dtype).is_half else a, v) for v in operands]


def settle(value: Any, wanted: Any) -> Any:
    """Results in the types *wanted*, a DType or a list of them; for a real place a complex number's real part."""

    def settle(array: Any, kind: DType | None) -> Any:
        if kind is None or array.dtype == kind.numpy or (kind.is_floating and array.dtype.kind in "biu"):
            return array
        if array.dtype.kind == "c" and not kind.is_complex:
            array = array.real
        return array.astype(kind.numpy)

    return map_nested(settle, value, wanted)


def _any(operands: Sequence[Operand]) -> bool:
    """Return whether one of *operands* is of a rare type; asked at every call once such a type is in use."""
    for v in operands:
        if v is None:
            continue
        if type(v) is list or type(v) is tuple:
            if _any(v):
                return True
        elif v.dtype in rare_arrays:
            return True
    return False


def watch_kernel(op: OpDef, attrs: Mapping[str, Any], plain: Callable[..., Any]) -> Callable[..., Any]:
    """The kernel *plain* of *op* with these attributes, :func:`careful` where an operand is of a rare type."""

    def run(*operands: Operand) -> Any:
        if not _any(operands):
            return plain(*operands)
        return careful(op, operands, attrs, None, plain)(*operands)

    return run


def watch_gradient_kernel(
    op: OpDef, attrs: Mapping[str, Any], plain: Callable[..., Any], general: Callable[..., Any]
) -> Callable[..., Any]:
    """The same for the gradient kernel of *op*, which takes what the rule reads.

    Args:
        general: the kernel of the gradient operator, which conjugates where *plain* does not.
    """
    gradient = op.grad_op
    assert gradient is not None

    def run(*args: Operand) -> Any:
        if not _any(args):
            return plain(*args)
        kernel = general if any(a.dtype.kind == "c" for a in each(args)) else plain
        return careful(gradient, args, attrs, None, kernel)(*args)

    return run


def careful(
    op: OpDef,
    like: Sequence[Operand],
    attrs: Mapping[str, Any],
    outs: Sequence[Any] | None,
    plain: Callable[..., Any],
) -> Callable[..., Any]:
    """``kernel(*operands)``: *plain* with care for the rare types among them.

    Args:
        like: the operands, or their specs.
        outs: the specs of the outputs, as far as they are known.

    Raises:
        DtypeError: *op* does not take complex numbers.
    """
    wide = list if op.trait & Trait.MOVES and op.forward is None else widen  # views stay views
    specs = [map_nested(_spec, v) for v in like]
    wanted = _types(op, specs, attrs, outs)
    computed = types.compute_specs(op, specs)
    kinds = None if computed is specs else [map_nested(lambda s: s.dtype.numpy, v) for v in computed]

    def run(*operands: Operand) -> Any:
        if kinds is not None:
            fitted = [map_nested(_cast, v, kind) for v, kind in zip(operands, kinds, strict=False)]
            operands = (*fitted, *operands[len(fitted) :])
        result = plain(*wide(operands))
        if len(wanted) == 1:
            return settle(result, wanted[0])
        return tuple(settle(r, w) for r, w in zip(result, wanted, strict=True))

    return run


def _cast(array: Any, kind: Any) -> Any:
    return array if array.dtype == kind else array.astype(kind)


def _spec(value: Any) -> TensorSpec:
    return value if isinstance(value, TensorSpec) else TensorSpec(value.shape, value.dtype)


def _types(op: OpDef, specs: list[Any], attrs: Mapping[str, Any], outs: Sequence[Any] | None) -> list[Any]:
    """The type of each output, in lists for list slots; None where it shall stay what it is."""
    if outs is not None:
        expect_complex_allowed(op, specs)
        return [map_nested(lambda s: s.dtype, o) for o in outs]
    if op.forward is not None:
        expect_complex_allowed(op, specs)
        return _gradient_types(op.forward, specs)
    ruled = Trait.UNARY | Trait.ELEMENTWISE | Trait.COMPARE
    if op.infer_fn is not None or op.trait & ruled:
        specs = [tuple(s) if isinstance(s, list) else s for s in specs]
        return [map_nested(lambda s: s.dtype, s) for s in op.infer_specs(specs, attrs)]
    expect_complex_allowed(op, specs)
    # An operator of rules: what it computes in float32 goes back to the type that all its operands have.
    kinds = {s.dtype for s in each(specs) if s.dtype.is_floating}
    half = kinds.pop() if len(kinds) == 1 else None
    return [half if half is not None and half.is_half else None] * len(op.outputs)


def _gradient_types(forward: OpDef, specs: Sequence[Any]) -> list[Any]:
    """Gradients have the types of what they are gradients of; else that of the gradient that arrives."""
    assert forward.rule is not None
    inputs: dict[int, Any] = {}
    arriving = None
    for read, spec in zip(forward.rule.reads, specs, strict=True):
        if read.kind == "in":
            inputs[read.place] = spec
        elif read.kind == "dout" and arriving is None:
            arriving = spec
    like = [inputs.get(i, arriving) for i in forward.rule.wrt]
    return [map_nested(lambda s: s.dtype, s[0] if isinstance(s, list) and s else s or None) for s in like]


def pull(
    op: OpDef, k: Namespace, args: Sequence[Operand], wanted: Sequence[Sequence[bool]], attrs: Mapping[str, Any]
) -> list[list[Any]]:
    """Return what the rule of *op* gives for *args* (see :class:`~gradtool.engine.ops.rules.GradientRule`), complex
    ones included.

    Raises:
        DtypeError: one is complex and *op* does not take complex numbers.
    """
    rule = op.rule
    assert rule is not None
    if not any(a.dtype.kind == "c" for a in each(args)):
        return rule(k, args, wanted, attrs)
    if not allows_complex(op):
        raise DtypeError(
            f"the gradient of {op.type} does not take complex numbers.",
            hint="compute with the parts, paddle.real(x) and paddle.imag(x), or with paddle.abs(x)",
        )
    # A derived rule is made of this function's results, and what moves elements has nothing to conjugate.
    conjugates = op.forward is None and bool(op.trait & Trait.HOLOMORPHIC)
    if conjugates:
        args = [map_nested(k.conj, a) if r.kind == "dout" else a for r, a in zip(rule.reads, args, strict=True)]
    gradients = rule(k, args, wanted, attrs)
    if conjugates:
        gradients = [map_nested(k.conj, group) for group in gradients]
    inputs = {r.place: a for r, a in zip(rule.reads, args, strict=True) if r.kind == "in"}
    for i, group in zip(rule.wrt, gradients, strict=True):
        like = inputs.get(i)
        _make_real(k, group, like if isinstance(like, (list, tuple)) else [like] * len(group))
    return gradients


def _make_real(k: Namespace, gradients: list[Any], operands: Sequence[Any]) -> None:
    """By a real operand of a complex function, the gradient is the real part."""
    for i, (g, operand) in enumerate(zip(gradients, operands, strict=False)):
        if operand is not None and not _is_complex(operand) and _is_complex(g):
            gradients[i] = k.real(g)


def _is_complex(array: Any) -> bool:
    return array is not None and array.dtype.kind == "c"
