"""Types of elements that operators take, and the type in which they compute: one table for both modes.

Some operands of an operator decide its type: both of an elementwise operator, otherwise those that have gradients.
They are computed in one type. Two types *meet* where the operator is among :data:`MEETS`, as Paddle promotes them;
elsewhere two different types are refused. Whole numbers and truth values stay what they are, become float32, or are
refused, as :data:`TAKES` says.

What is declared follows from this (``OpDef.infer_specs`` gives shape rules the types that are computed in), and so does
what is delivered: dynamic mode casts the operands where it records an operator (``eager/operand_types.py``), a plan
where a kernel is bound (``rare_types.careful``). Types that move only (:attr:`Trait.MOVES`) and operators without a
line here that have no gradient take everything.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from ..core.errors import DtypeError
from ..core.spec import DType, TensorSpec, float32, float64, int16, promote
from ..core.spec import dtype as dtype_of

if TYPE_CHECKING:
    from .opdef import OpDef

NARROW = "uint8 int8 int16"
WIDE = "int32 int64"
WHOLE = f"{NARROW} {WIDE}"

TAKES: tuple[tuple[str, str, str], ...] = (
    ("scale elementwise_add reduce_sum fill_any index_put", f"bool {WHOLE}", ""),
    ("elementwise_floordiv sign floor ceil cumsum median", WHOLE, ""),
    ("unpool unpool3d", "int64", ""),
    ("argsort arg_max arg_min put_along_axis", f"uint8 int16 {WIDE}", ""),
    ("nearest_interp nearest_interp_v2", f"uint8 {WIDE}", ""),
    ("elementwise_sub", f"int16 {WIDE}", ""),
    ("elementwise_mul reduce_mean mean", f"bool {WIDE}", ""),
    ("abs clip conj increment pow round square", WIDE, ""),
    ("elementwise_max elementwise_min elementwise_mod elementwise_pow sum", WIDE, ""),
    ("reduce_amax reduce_amin reduce_max reduce_min reduce_prod scatter top_k_v2", WIDE, ""),
    ("dot matmul_v2 one_hot_v2 range", WIDE, ""),
    ("cummax cummin cumprod diag_v2 elementwise_fmax elementwise_fmin elementwise_heaviside", WIDE, ""),
    ("cross frame gcd index_add kthvalue lcm mode nanmedian overlap_add trace trunc", WIDE, ""),
    ("bitwise_left_shift bitwise_right_shift", WHOLE, ""),
    ("copysign fill_diagonal reduce_as", f"bool {WHOLE}", ""),
    ("scatter_nd_add", f"uint8 {WIDE}", ""),
    ("graph_send_recv graph_send_ue_recv graph_send_uv segment_pool", WIDE, ""),
    ("isclose bernoulli nextafter", "", ""),
    ("elementwise_div", "bool", WHOLE),
    ("acos acosh asin asinh atan atanh cos cosh sin sinh tan tanh", "", WHOLE),
    ("erf logsumexp reciprocal rsqrt sigmoid sqrt", "", WHOLE),
    ("digamma erfinv i0 i0e i1 i1e lgamma logcumsumexp logit polygamma stanh", "", WHOLE),
    ("exp expm1 log log10 log1p log2", "", WIDE),
)
"""Operators, the truth values and whole numbers that stay what they are in them, and those that become float32.

Operators with a gradient that have no line here, and do not just move elements, take none.
"""

MEETS = frozenset(
    {
        type_
        for types in (
            "elementwise_add elementwise_sub elementwise_mul elementwise_div elementwise_floordiv elementwise_mod",
            "elementwise_max elementwise_min elementwise_pow huber_loss kldiv_loss where",
            "atan2 copysign cross elementwise_fmax elementwise_fmin nextafter",
            "equal not_equal less_than less_equal greater_than greater_equal logical_and logical_or logical_xor",
        )
        for type_ in types.split()
    }
)
"""Operators in which two different types meet in a third (:func:`promote_operands`)."""

SCALARS = {
    "elementwise_add": True,
    "elementwise_div": True,
    "elementwise_floordiv": False,
    "elementwise_mod": True,
    "elementwise_mul": True,
    "elementwise_pow": True,
    "elementwise_sub": True,
    **dict.fromkeys(["equal", "not_equal", "less_than", "less_equal", "greater_than", "greater_equal"], True),
}
"""Operators in which a tensor without dimensions meets others of every kind; whether it gives way to their type."""

DECIDES = {
    "allclose": "Input Other",
    "batch_norm": "X Scale Bias Mean Variance",
    "bce_loss": "X Label",
    "equal_all": "X Y",
    "gammaincc": "x y",
    "isclose": "Input Other",
    "kldiv_loss": "X Target",
    "lerp": "X Y Weight",
    "log_loss": "Predicted Labels",
    "nll_loss": "X Weight",
    "sigmoid_cross_entropy_with_logits": "X Label",
}
"""Operators in which more operands decide than those with gradients, and these."""


REAL = "float16 bfloat16 float32 float64"
COMPLEX_TYPES = "complex64 complex128"

MAKES = {
    "eye": f"{WIDE} {REAL} {COMPLEX_TYPES}",
    "gaussian_random": f"{REAL} {COMPLEX_TYPES}",
    "linspace": f"{WIDE} {REAL}",
    "randint": WIDE,
    "randperm": f"{WIDE} {REAL}",
    "truncated_gaussian_random": REAL,
    "uniform_random": f"{REAL} {COMPLEX_TYPES}",
}
"""Operators that make tensors of a type that is an attribute, and the types that they make."""


class Takes(NamedTuple):
    """Operands that an operator takes.

    Attributes:
        places: the inputs whose types decide.
        stay: the truth values and whole numbers that it takes as they are; None for every type there is.
        become: those that become float32.
        meets: whether two different types meet.
    """

    places: tuple[int, ...]
    stay: frozenset[DType] | None
    become: frozenset[DType]
    meets: bool


@cache
def _dtypes(names: str) -> frozenset[DType]:
    return frozenset(map(dtype_of, names.split()))


_TABLE = {type_: (_dtypes(stay), _dtypes(become)) for types, stay, become in TAKES for type_ in types.split()}
_NONE = (_dtypes(""), _dtypes(""))


def takes_of(op: OpDef) -> Takes:
    """Return the operands that *op* takes, by the tables and its traits."""
    from .opdef import Trait

    if op.holds_blocks or op.trait & (Trait.OPAQUE | Trait.EFFECT) or op.type in ("cast", "select_input"):
        return Takes((), None, frozenset(), False)  # its operands have nothing to do with each other
    if op.type in DECIDES:
        places = tuple(op.input_index[name] for name in DECIDES[op.type].split())
    elif op.trait & (Trait.ELEMENTWISE | Trait.COMPARE):
        places = (0, 1)
    elif op.rule is not None:
        places = tuple(op.rule.wrt)
    else:
        places = (0,) if op.inputs else ()
    meets = op.type in MEETS
    if op.type not in _TABLE and (not op.differentiable or op.trait & (Trait.INTERNAL | Trait.MOVES)):
        return Takes(places, None, frozenset(), meets)
    return Takes(places, *_TABLE.get(op.type, _NONE), meets)


def compute_specs(op: OpDef, specs: Sequence[Any]) -> Sequence[Any]:
    """The specs of the operands as *op* computes with them: *specs* itself where nothing is to be cast.

    Numbers of 16 bits and complex ones beside others are left to ``rare_types.py`` where the two do not meet.

    Raises:
        DtypeError: it does not take them.
    """
    if op.forward is not None:
        return _gradient_specs(op, specs)
    takes = op.takes
    kinds = {spec.dtype for _, spec in _type_operands(takes, specs)}
    if len(kinds) == 1:
        (target,) = kinds
        if target.is_differentiable or takes.stay is None or target in takes.stay:
            return specs
    elif not kinds or (not takes.meets and _is_left_to_rare(kinds)):
        return specs
    else:
        target = _common(op, takes, specs)
    _expect_taken(op, takes, target)
    return _cast(specs, takes.places, float32 if target in takes.become else target)


def _is_left_to_rare(kinds: Iterable[DType]) -> bool:
    """Return whether operands of these types are cast by ``rare_types.py``."""
    return any(k.is_rare for k in kinds) and all(k.is_differentiable for k in kinds)


def _gradient_specs(op: OpDef, specs: Sequence[Any]) -> Sequence[Any]:
    """The same for a gradient operator: what its forward operator computed in is what the gradients arrive in."""
    assert op.forward is not None
    assert op.forward.rule is not None
    kinds = {s.dtype for s in _each(specs) if s.dtype.is_differentiable}
    if not kinds or any(k.is_rare for k in kinds):
        return specs
    whole = [i for i in _type_reads(op) if not all(s.dtype.is_differentiable for s in _each(specs[i : i + 1]))]
    if len(kinds) < 2 and not whole:
        return specs
    floats = [i for i, v in enumerate(specs) if any(s.dtype.is_floating for s in _each([v]))]
    return _cast(specs, {*floats, *whole}, float64 if float64 in kinds else float32)


def _type_reads(op: OpDef) -> set[int]:
    """The inputs of *op* whose types decide; of a gradient operator, those that its rule reads for these."""
    if op.forward is None:
        return set(op.takes.places)
    assert op.forward.rule is not None
    deciding = _type_reads(op.forward)
    return {i for i, r in enumerate(op.forward.rule.reads) if r.kind == "in" and r.place in deciding}


def _cast(specs: Sequence[Any], places: Iterable[int], target: DType) -> list[Any]:
    casts = list(specs)
    for i in places:
        v = casts[i] if i < len(casts) else None
        if isinstance(v, (list, tuple)):
            casts[i] = tuple(s.replace_dtype(target) for s in v)
        elif v is not None:
            casts[i] = v.replace_dtype(target)
    return casts


def _each(specs: Iterable[Any]) -> Iterator[TensorSpec]:
    for v in specs:
        if isinstance(v, (list, tuple)):
            yield from _each(v)
        elif v is not None:
            yield v


def _type_operands(takes: Takes, specs: Sequence[Any]) -> Iterator[tuple[int, TensorSpec]]:
    for i in takes.places:
        v = specs[i] if i < len(specs) else None
        if isinstance(v, (list, tuple)):
            for s in v:
                yield i, s
        elif v is not None:
            yield i, v


def _common(op: OpDef, takes: Takes, specs: Sequence[Any]) -> DType:
    """The type in which the deciding operands meet."""
    deciding = list(_type_operands(takes, specs))
    if takes.meets and len(deciding) == 2:
        kind = promote_operands(op.type, deciding[0][1], deciding[1][1])
        if kind is not None:
            return kind
    first, second = deciding[0], next(d for d in deciding if d[1].dtype is not deciding[0][1].dtype)
    names = [op.inputs[i].name for i, _ in (first, second)]
    both = names if names[0] != names[1] else [names[0], "another entry"]
    raise DtypeError(
        f"{op.type}: {both[0]} is {first[1].dtype.name} and {both[1]} is {second[1].dtype.name}.",
        hint=f"cast one of them, for example with astype({first[1].dtype.name!r})",
    )


def _expect_taken(op: OpDef, takes: Takes, kind: DType) -> None:
    if kind.is_differentiable or takes.stay is None or kind in takes.stay or kind in takes.become:
        return
    whole = [name for name in f"bool {WHOLE}".split() if dtype_of(name) in takes.stay | takes.become]
    others = f" or {', '.join(whole)}" if whole else ""
    place = takes.places[0]
    raise DtypeError(
        f"{op.type}: {op.inputs[place].name} must hold floating-point numbers{others}, but received {kind.name}.",
        hint="convert it first, as in paddle.cast(x, 'float32')",
    )


def expect_made(op_type: str, code: object) -> None:
    """Raise :class:`DtypeError` unless the operator makes tensors of the type *code*, a value of its attribute."""
    kind = dtype_of(code)
    names = MAKES[op_type].split()
    if kind.name not in names:
        raise DtypeError(f"{op_type}: the type must be one of {', '.join(names)}, but received {kind.name}.")


def promote_operands(op_type: str, x: TensorSpec, y: TensorSpec) -> DType | None:
    """The type in which two operands of that operator meet as Paddle promotes them; None where it does not.

    Floating-point and complex types meet in the wider one. Whole numbers and truth values meet others only where one
    of the two tensors has no dimensions, in operators that :data:`SCALARS` names. There such a tensor gives way to the
    other one's type, unless it is of a higher kind (truth values, whole numbers, floating-point, complex). Anything
    else is left to the user.

    >>> promote_operands("elementwise_add", TensorSpec([2], "float32"), TensorSpec([2], "float64"))
    paddle.float64
    >>> promote_operands("elementwise_add", TensorSpec([2], "float32"), TensorSpec([], "float64"))
    paddle.float32
    """
    a, b = x.dtype, y.dtype
    if a is b:
        return a
    kinds = _kind(a), _kind(b)
    scalars = op_type in SCALARS and not (x.ndim and y.ndim)
    one_has_dimensions = bool(x.ndim or y.ndim)
    if scalars and one_has_dimensions and SCALARS[op_type] and kinds[0] == kinds[1]:
        return a if x.ndim else b
    if max(kinds) == COMPLEX or min(kinds) == FLOATING:
        return promote(a, b)
    if not scalars:
        return None
    return _wider(a, b) if kinds[0] == kinds[1] else max(a, b, key=_kind)


def _wider(a: DType, b: DType) -> DType:
    """The one of more bytes; of uint8 and int8 neither is."""
    if a.size == b.size:
        return int16
    return a if a.size > b.size else b


FLOATING, COMPLEX = 2, 3


def _kind(d: DType) -> int:
    if d.is_complex:
        return COMPLEX
    if d.is_floating:
        return FLOATING
    return 1 if d.is_integer else 0


def plain(op: OpDef, specs: Sequence[Any], outs: Sequence[Any] = ()) -> bool:
    """Return whether operands of these specs are all that kernels are written for: float32, or float64.

    An operator that takes every type as it is has no need of care either.

    Args:
        outs: of a gradient operator: what its results are declared as, as far as that is known.
    """
    if op.forward is not None:
        kinds = {s.dtype for s in _each([*specs, *outs]) if s.dtype.is_floating}
        return len(kinds) < 2 and compute_specs(op, specs) is specs
    kinds = {spec.dtype for _, spec in _type_operands(op.takes, specs)}
    return len(kinds) <= 1 and (kinds <= {float32, float64} or op.takes.stay is None)
