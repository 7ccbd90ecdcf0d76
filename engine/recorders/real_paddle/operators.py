"""Calls of Paddle's operators as gradtool's: by the table that programs of Paddle's new IR are read with.

``_C_ops`` take what their definitions name: tensors first, then attributes. What has no line in the table, or is called
in a way that gradtool's operator is not, stays an operator that Paddle alone knows
(:class:`~gradtool.engine.recorders.recorded.nodes.ForeignOp`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ...core.errors import OperatorError
from ...core.spec import DTYPES
from ...core.spec import dtype as dtype_of
from ...eager.tensor import Tensor
from ...ir.paddle import attributes
from ...ir.paddle.pd_ops import TABLE, PdOperator
from ...ops.opdef import OpDef
from ...ops.registry import get_by_type
from ..recorded.matching import Match

_CODES = {d.name: d.code for d in DTYPES}
_COPIES = frozenset({"assign", "copy_to", "contiguous"})
_ELEMENTWISE = frozenset({"add", "subtract", "multiply", "divide", "maximum", "minimum", "elementwise_pow"})


def match(name: str, named: Mapping[str, Any], results: Sequence[Tensor]) -> Match | None:
    """A call of Paddle's operator *name* as one of gradtool's; None where there is none that is the same.

    Args:
        named: its arguments, with tensors in place of their numbers.
    """
    if not results:
        return None
    if name in _OWN:
        return _OWN[name](named, results)
    for line in TABLE.get(name, ()):
        try:
            return _read(line, name, list(named.items()), results)
        except OperatorError:
            continue
    return None


def _read(line: PdOperator, name: str, arguments: Sequence[tuple[str, Any]], results: Sequence[Tensor]) -> Match:
    op = get_by_type(line.type)
    columns = [column for column in line.operands if not column.startswith("@")]
    slots: dict[str, Any] = {}
    for (_, value), column in zip(arguments, columns, strict=False):
        if value is None or column == "-":
            continue
        if column == "?":
            raise OperatorError(f"{op.type} has no place for an operand that it is given.")
        slots[column] = _operand(value, slots)
    first = next((v for v in slots.values() if isinstance(v, Tensor)), None)
    if name in _ELEMENTWISE and len({v.array.dtype for v in slots.values()}) != 1:
        raise OperatorError(f"{op.type} of two types, of which Paddle makes one.")
    attrs = _attributes(op, line, arguments[len(columns) :], slots)
    if "reduce_all" in op.defaults and first is not None:
        dims = attrs.get("dim", ())
        attrs["reduce_all"] = bool(attrs.get("reduce_all")) or not dims or len(dims) == first.ndim
        attrs["dim"] = dims or (0,)
    if op.type == "cast":
        assert first is not None
        attrs["in_dtype"] = dtype_of(first.array.dtype).code
    operands = [slots.get(s.name, [] if s.many else None) for s in op.inputs]
    missing = [s.name for s, v in zip(op.inputs, operands, strict=True) if v is None and not s.optional]
    if missing:
        raise OperatorError(f"{op.type} without {missing[0]}.")
    return Match(op.type, operands, _results(op, line, results, first, attrs), attrs)


def _operand(value: Any, slots: Mapping[str, Any]) -> Any:
    """Return the content of a slot: a tensor, several, or a number that acts as a tensor next to another one."""
    if isinstance(value, Tensor):
        return value
    if isinstance(value, list) and all(isinstance(v, Tensor) for v in value):
        return value
    beside = next((v for v in slots.values() if isinstance(v, Tensor)), None)
    if isinstance(value, (int, float)) and beside is not None:
        return Tensor(np.asarray(value, beside.array.dtype))
    raise OperatorError(f"an operand that is {value!r}.")


def _attributes(
    op: OpDef, line: PdOperator, arguments: Sequence[tuple[str, Any]], slots: dict[str, Any]
) -> dict[str, Any]:
    """The attributes of a call; a tensor in the place of one goes into its slot."""
    told = dict(arguments)
    attrs: dict[str, Any] = {}
    for column in line.operands:
        if not column.startswith("@"):
            continue
        ours, _, slot = column[1:].partition("/")
        theirs = ours if ours in told else _other_name(op, line, told)
        if theirs is None:
            continue
        value = told.pop(theirs)
        if not _holds_tensors(value):
            attrs[ours] = _value(value)
        elif slot and isinstance(value, Tensor):
            slots[slot] = value
        else:
            raise OperatorError(f"{ours} is computed, and {op.type} takes numbers.")
    for theirs, value in told.items():
        ours = line.renamed.get(theirs, theirs)
        if ours and value is not None:
            attrs[ours] = _code(value) if ours in line.types else _value(value)
    return attributes.own(op, {**line.fixed, **attrs})


def _other_name(op: OpDef, line: PdOperator, told: Mapping[str, Any]) -> str | None:
    """Return Paddle's name for an argument that is named otherwise here: the first one that no other argument has."""
    return next((n for n in told if n not in line.renamed and n not in op.defaults), None)


def _holds_tensors(value: Any) -> bool:
    return isinstance(value, Tensor) or (isinstance(value, list) and any(isinstance(v, Tensor) for v in value))


def _value(value: Any) -> Any:
    if _holds_tensors(value):
        raise OperatorError("an attribute that is a tensor.")
    return tuple([_value(v) for v in value]) if isinstance(value, (list, tuple)) else value


def _code(value: Any) -> int:
    """The number of a data type by what Paddle calls it."""
    name = str(value).removeprefix("paddle.").removeprefix("DataType.").lower()
    if name == "undefined" or name not in _CODES:
        return -1
    return _CODES[name]


def _results(
    op: OpDef, line: PdOperator, results: Sequence[Tensor], first: Tensor | None, attrs: Mapping[str, Any]
) -> list[Any]:
    """One result per output; those that Paddle keeps to itself as what the rule reads of them: their shape."""
    outputs = line.outputs or [s.name for s in op.outputs]
    if len(op.outputs) == 1 and op.outputs[0].many:
        return [list(results)]
    if op.type == "batch_norm":
        outputs = [*outputs, "SavedVariance", "ReserveSpace"]
    told = dict(zip(outputs, results, strict=False))
    inside: list[Any] = []
    for place, slot in enumerate(op.outputs):
        value: Any = told.get(slot.name)
        if value is None and first is not None:
            value = _placeholder(op, slot.name, first, attrs)
        read = op.rule is not None and any(r.kind == "out" and r.place == place and not r.like for r in op.rule.reads)
        if value is None and read:
            raise OperatorError(f"{slot.name} of {op.type}, which Paddle keeps to itself.")
        inside.append(value)
    if any(v is None and not s.optional for v, s in zip(inside, op.outputs, strict=True)):
        raise OperatorError(f"a result of {op.type}, which Paddle keeps to itself.")
    return inside


def _placeholder(op: OpDef, slot: str, x: Tensor, attrs: Mapping[str, Any]) -> Any:
    """A stand-in for a result of which only the shape is read."""
    if slot == "XShape":
        return np.broadcast_to(np.zeros((), x.array.dtype), (0, *x.array.shape))
    if op.type == "layer_norm" and slot in ("Mean", "Variance"):
        rows = math.prod(x.array.shape[: attrs.get("begin_norm_axis", 1)])
        return np.broadcast_to(np.zeros((), x.array.dtype), (rows,))
    return None


def _copy(named: Mapping[str, Any], results: Sequence[Tensor]) -> Match | None:
    x = named.get("x")
    return Match("assign", [x], [results[0]], {}) if isinstance(x, Tensor) else None


def _item(named: Mapping[str, Any], results: Sequence[Tensor]) -> Match | None:
    """``x[...]`` of numbers and slices of step 1 alone: a slice."""
    x, index = named.get("x"), named.get("index")
    if not isinstance(x, Tensor) or not isinstance(index, list):
        return None
    if "..." in index:
        at = index.index("...")
        index = [*index[:at], *[[None, None, None]] * (x.ndim - len(index) + 1), *index[at + 1 :]]
    if len(index) > x.ndim:
        return None
    axes: list[int] = []
    starts: list[int] = []
    ends: list[int] = []
    decrease: list[int] = []
    for axis, entry in enumerate(index):
        size = x.array.shape[axis]
        if isinstance(entry, int):
            start = entry % size if size else 0
            bounds = start, start + 1
            decrease.append(axis)
        elif isinstance(entry, list) and entry[2] in (None, 1):
            start, stop, _ = slice(*entry).indices(size)
            if (start, stop) == (0, size):
                continue
            bounds = start, max(start, stop)
        else:
            return None
        axes.append(axis)
        starts.append(bounds[0])
        ends.append(bounds[1])
    attrs = {
        "axes": tuple(axes),
        "starts": tuple(starts),
        "ends": tuple(ends),
        "infer_flags": (1,) * len(axes),
        "decrease_axis": tuple(decrease),
    }
    return Match("slice", [x, None, None, [], []], [results[0]], attrs)


def _recurrent(named: Mapping[str, Any], results: Sequence[Tensor]) -> Match | None:
    """``rnn`` without dropout: what dropout leaves out is Paddle's own."""
    states, weights = named.get("pre_state"), named.get("weight_list")
    if not isinstance(states, list) or not isinstance(weights, list) or len(results) != len(states) + 2:
        return None
    if named.get("dropout_prob") and not named.get("is_test"):
        return None
    op = get_by_type("rnn")
    attrs = {n: v for n, v in named.items() if n in op.defaults and v is not None}
    out, dropped, *last = results
    reserve = np.zeros((0,), out.array.dtype)  # what Paddle keeps to itself; of ours, too, only the shape is read
    operands = [named.get("x"), states, weights, named.get("sequence_length")]
    return Match("rnn", operands, [out, last, dropped, reserve], attrs)


_OWN: Mapping[str, Callable[[Mapping[str, Any], Sequence[Tensor]], Match | None]] = {
    **dict.fromkeys(_COPIES, _copy),
    "getitem": _item,
    "rnn": _recurrent,
}
"""Calls that have no line in the table."""
