"""Attributes of operators in descriptions of programs: their types, by number, and what each holds."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

import numpy as np

from ...core.errors import OperatorError
from ...ops.opdef import OpDef
from ..assemble import block_at
from ..operator import COMMON
from ..program import Program


class AttributeKind(NamedTuple):
    """A type of attributes.

    Attributes:
        number: which stands for it in a file.
        field: of the message, in which its value is.
        read: what the value in the field means.
        many: it is a list.
    """

    number: int
    field: str
    read: Callable[[Any, Program], Any] = lambda value, program: value
    many: bool = False


def text(value: bytes) -> str:
    """A text of a file; raises :class:`OperatorError` where it is no UTF-8."""
    try:
        return value.decode("utf-8")
    except UnicodeDecodeError:
        raise OperatorError(f"{value[:40]!r} is no text.") from None


def single(value: float) -> float:
    """A number of single precision as the shortest one that means it: 0.9, not 0.8999999761581421."""
    return float(str(np.float32(value)))


def _scalar(value: Any, program: Program) -> Any:
    match value.type:
        case 1:
            return value.b
        case 2:
            return value.i
        case 3:
            return value.r
        case 4:
            return complex(value.c.r, value.c.i)
    raise OperatorError(f"a number of the unknown type {value.type}.")


def _variable_name(value: bytes, program: Program) -> Any:
    raise OperatorError(f"an attribute that is the variable {text(value)!r} is not in gradtool.")


KINDS: Final[dict[str, AttributeKind]] = {
    "INT": AttributeKind(0, "i"),
    "FLOAT": AttributeKind(1, "f", lambda value, program: single(value)),
    "STRING": AttributeKind(2, "s", lambda value, program: text(value)),
    "INTS": AttributeKind(3, "ints", many=True),
    "FLOATS": AttributeKind(4, "floats", lambda value, program: single(value), many=True),
    "STRINGS": AttributeKind(5, "strings", lambda value, program: text(value), many=True),
    "BOOLEAN": AttributeKind(6, "b"),
    "BOOLEANS": AttributeKind(7, "bools", many=True),
    "BLOCK": AttributeKind(8, "block_idx", lambda value, program: block_at(program, value)),
    "LONG": AttributeKind(9, "l"),
    "BLOCKS": AttributeKind(10, "blocks_idx", lambda value, program: block_at(program, value), many=True),
    "LONGS": AttributeKind(11, "longs", many=True),
    "FLOAT64S": AttributeKind(12, "float64s", many=True),
    "VAR": AttributeKind(13, "var_name", _variable_name),
    "VARS": AttributeKind(14, "vars_name", _variable_name, many=True),
    "FLOAT64": AttributeKind(15, "float64"),
    "SCALAR": AttributeKind(16, "scalar", _scalar),
    "SCALARS": AttributeKind(17, "scalars", _scalar, many=True),
}
"""Paddle's types of attributes by their names."""

_BY_NUMBER: Final = {kind.number: kind for kind in KINDS.values()}


def value_of(attr: Any, program: Program) -> Any:
    """Return the value of an attribute of a file, a list as a tuple.

    Raises:
        OperatorError: it is of an unknown type, or means nothing here.
        ProgramError: it refers to a block that does not exist.
    """
    kind = _BY_NUMBER.get(attr.type)
    if kind is None:
        raise OperatorError(f"an attribute of the unknown type {attr.type}.")
    held = getattr(attr, kind.field)
    return tuple([kind.read(entry, program) for entry in held]) if kind.many else kind.read(held, program)


# -- attributes that gradtool's definitions have not ------------------------------------------------------------------

_SAYS_HOW: Final = frozenset(
    {
        *("ALL_KERNELS_MUST_COMPUTE_RUNTIME_SHAPE", "entry", "entry_config", "epmap", "exhaustive_search"),
        *("force_fp32_output", "grad_inplace", "height_sections", "is_test", "mkldnn_data_type", "name"),
        *("padding_weights", "slot", "table_class", "table_names", "trainer_id", "use_addto", "use_cudnn"),
        *("use_mkldnn", "use_quantizer", "workspace_size_MB", "use_onednn", "onednn_data_type"),
        *("is_distributed", "remote_prefetch", "struct_name", "copy_info", "enable_cache"),
        *("skip_update_beta_pows_of_xpu", "op_version", "with_quant_attr", "use_global_beta_pow", "sub_graph_id"),
    }
)
"""Attributes that say how or where Paddle computes something, and not what, wherever they are stated."""

_NEUTRAL: Final[Mapping[str, tuple[Any, ...]]] = {
    **dict.fromkeys(("Scale_in", "Scale_in_eltwise", "Scale_out", "Scale_x", "Scale_y"), (1.0,)),
    **dict.fromkeys(("scale_in", "scale_out", "scale_x", "alpha"), (1.0,)),
    "Scale_weights": ((1.0,),),
    "scale_y": ((1.0,),),
    "head_number": (1,),
    "scale_in_eltwise": (1.0,),
    "fuse_brelu_threshold": (6.0,),
    "fuse_alpha": (0.0,),
    "fuse_beta": (0.0,),
    **dict.fromkeys(("data_format", "data_layout"), ("NCHW", "NCDHW", "AnyLayout", "ANYLAYOUT")),
    "x_data_format": ("", "NCHW"),
    "y_data_format": ("", "NCHW"),
}
"""Attributes that gradtool's definitions have not -> values at which they do nothing."""


def own(op: OpDef, attrs: Mapping[str, Any]) -> dict[str, Any]:
    """Those of *attrs* that *op* has.

    Raises:
        OperatorError: another one says that Paddle computes something that gradtool does not.
    """
    taken: dict[str, Any] = {}
    for name, value in attrs.items():
        if name in op.defaults:
            taken[name] = _fit_attribute(op.defaults[name], value)
        elif name not in COMMON and not _is_idle(op.type.removesuffix("_grad"), name, value):
            raise OperatorError(f"attribute {name} = {value!r}, which {op.type} has not here.")
    return taken


_OWN_NEUTRAL: Final[Mapping[tuple[str, str], Any]] = {
    ("relu6", "threshold"): 6.0,
    ("swish", "beta"): 1.0,
    ("concat", "num"): ...,
}
"""Operator and attribute -> the value that its definition means without saying it; ``...`` where any is the same."""


def _is_idle(type_: str, name: str, value: Any) -> bool:
    """Return whether an attribute changes nothing of what an operator computes: false, empty, or known to."""
    if (type_, name) in _OWN_NEUTRAL:
        return _OWN_NEUTRAL[type_, name] in (..., value)
    return name in _SAYS_HOW or value is False or value == "" or value == () or value in _NEUTRAL.get(name, ())


def _fit_attribute(default: Any, value: Any) -> Any:
    """*value* as an attribute with that default: a number where older files have a list of one, and so on."""
    if isinstance(default, tuple) and isinstance(value, (int, float)) and not isinstance(value, bool):
        return (value,)
    if isinstance(default, (int, float)) and isinstance(value, tuple) and len(value) == 1:
        return value[0]
    if isinstance(default, bool) and isinstance(value, (int, float)):
        return bool(value)
    if isinstance(default, int) and isinstance(value, float) and value.is_integer():
        return int(value)
    return value
