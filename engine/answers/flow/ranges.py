"""Signs of values by construction: what is above 0 whatever it is computed from, and what can be 0."""

from __future__ import annotations

import enum
from collections.abc import Callable, Mapping, Set
from typing import Any

import numpy as np

from ...runs.timeline import NOBODY, Entry, Timeline


class Sign(enum.IntEnum):
    """The sign of each element, as far as operators decide it.

    DIFFERENCE: of two values, so that 0 is met where they are equal.
    ANY: nothing is known.
    FROM_ZERO: never below 0, and 0 is met: where relu cuts, where two values are equal.
    SELDOM_ZERO: never below 0, and 0 by chance alone.
    ABOVE_ZERO: above 0.
    """

    DIFFERENCE = -1
    ANY = 0
    FROM_ZERO = 1
    SELDOM_ZERO = 2
    ABOVE_ZERO = 3


Rule = Callable[[Entry, Mapping[str, Any], Mapping[int, Sign]], Sign]


def attributes(entry: Entry) -> Mapping[str, Any]:
    """Return the attributes of an operator."""
    return getattr(entry.binding, "attrs", None) or getattr(entry.origin, "attrs", None) or {}


def kind(entry: Entry) -> str:
    """Return the type of an operator; of one that only the framework has, the name without what tells it apart."""
    return entry.type.removeprefix("aten.")


def signs(run: Timeline, moving: Set[int]) -> dict[int, Sign]:
    """Return the sign of each forward value, in one walk over the operators.

    Args:
        moving: the values that depend on parameters; of others, and of what no gradient comes to, the values of this
            pass decide.
    """
    known = {n: _constant_sign(run, n) for n, v in enumerate(run.values) if v.maker == NOBODY and n not in moving}
    for entry in run.entries:
        if entry.backward:
            continue
        if moving.isdisjoint(entry.made) or entry.pair == NOBODY:
            known.update((n, _constant_sign(run, n)) for n in entry.made)
            continue
        rule = _RULES.get(kind(entry))
        sign = Sign.ANY if rule is None else rule(entry, attributes(entry), known)
        known.update(dict.fromkeys(entry.made, sign))
    return known


def _constant_sign(run: Timeline, number: int) -> Sign:
    array = np.asarray(run.store.get(number)) if number in run.store else np.zeros(0)
    if not array.size or array.dtype.kind not in "fiub":
        return Sign.ANY
    least = float(np.min(array))
    return Sign.ABOVE_ZERO if least > 0 else Sign.FROM_ZERO if least == 0 else Sign.ANY


def _always(sign: Sign) -> Rule:
    return lambda entry, attrs, known: sign


def _inputs(entry: Entry, known: Mapping[int, Sign]) -> list[Sign]:
    return [known.get(n, Sign.ANY) for n in entry.inputs]


def _common_sign(entry: Entry, attrs: Mapping[str, Any], known: Mapping[int, Sign]) -> Sign:
    """The sign of what is moved, added up or chosen from."""
    return min(_inputs(entry, known), default=Sign.ANY)


def _first(entry: Entry, attrs: Mapping[str, Any], known: Mapping[int, Sign]) -> Sign:
    return next(iter(_inputs(entry, known)), Sign.ANY)


def _scale(entry: Entry, attrs: Mapping[str, Any], known: Mapping[int, Sign]) -> Sign:
    factor, added = float(attrs.get("scale", 1.0)), float(attrs.get("bias", 0.0))
    sign = _first(entry, attrs, known)
    if sign <= Sign.ANY:
        return sign if not added else Sign.ANY
    if factor <= 0 or added < 0:
        return Sign.ANY
    return Sign.ABOVE_ZERO if added > 0 else sign


def _add(entry: Entry, attrs: Mapping[str, Any], known: Mapping[int, Sign]) -> Sign:
    found = _inputs(entry, known)
    number = _number(attrs, "other")
    if number is not None and len(found) == 1:
        found.append(_number_sign(number))
    return max(found) if found and min(found) > Sign.ANY else Sign.ANY


def _multiply(entry: Entry, attrs: Mapping[str, Any], known: Mapping[int, Sign]) -> Sign:
    numbers, found = entry.inputs, _inputs(entry, known)
    if len(numbers) == 2 and numbers[0] == numbers[1]:
        return _OF_SQUARES.get(found[0], found[0])
    return max(Sign.ANY, min(found, default=Sign.ANY))


def _larger(entry: Entry, attrs: Mapping[str, Any], known: Mapping[int, Sign]) -> Sign:
    return max(_inputs(entry, known), default=Sign.ANY)


def _clip(entry: Entry, attrs: Mapping[str, Any], known: Mapping[int, Sign]) -> Sign:
    low = _number(attrs, "min")
    return max(Sign.ANY if low is None else _number_sign(low), _first(entry, attrs, known))


def _power(entry: Entry, attrs: Mapping[str, Any], known: Mapping[int, Sign]) -> Sign:
    factor = _number(attrs, "factor")
    even = factor is not None and factor > 0 and factor % 2 == 0
    return _square(entry, attrs, known) if even else max(Sign.ANY, _first(entry, attrs, known))


def _least_sign(entry: Entry, attrs: Mapping[str, Any], known: Mapping[int, Sign]) -> Sign:
    branches = [known.get(n, Sign.ANY) for slot, n in entry.reads if slot in ("X", "Y", "self", "other")]
    numbers = [number for number in (_number(attrs, "self"), _number(attrs, "other")) if number is not None]
    return min([*branches, *map(_number_sign, numbers)], default=Sign.ANY)


def _cut(entry: Entry, attrs: Mapping[str, Any], known: Mapping[int, Sign]) -> Sign:
    return max(Sign.FROM_ZERO, _first(entry, attrs, known))


def _square(entry: Entry, attrs: Mapping[str, Any], known: Mapping[int, Sign]) -> Sign:
    return _OF_SQUARES.get(sign := _first(entry, attrs, known), sign)


_OF_SQUARES = {Sign.DIFFERENCE: Sign.FROM_ZERO, Sign.ANY: Sign.SELDOM_ZERO}


def _subtract(entry: Entry, attrs: Mapping[str, Any], known: Mapping[int, Sign]) -> Sign:
    return Sign.DIFFERENCE if len(set(entry.inputs)) == 2 else Sign.ANY


def _add_up(entry: Entry, attrs: Mapping[str, Any], known: Mapping[int, Sign]) -> Sign:
    return max(Sign.ANY, _first(entry, attrs, known))


def _number(attrs: Mapping[str, Any], name: str) -> float | None:
    value = attrs.get(name)
    return float(value) if isinstance(value, (int, float)) else None


def _number_sign(number: float) -> Sign:
    return Sign.ABOVE_ZERO if number > 0 else Sign.FROM_ZERO if number == 0 else Sign.ANY


MOVES = frozenset(
    [
        "reshape2",
        "squeeze2",
        "unsqueeze2",
        "transpose2",
        "flatten_contiguous_range",
        "cast",
        "assign",
        "slice",
        "strided_slice",
        "gather",
        "gather_nd",
        "index_select",
        "take_along_axis",
        "concat",
        "stack",
        "split",
        "expand_v2",
        "expand_as_v2",
        "unbind",
        "unstack",
        "flip",
        "roll",
        "tile",
        "diagonal",
        "index",
        "slice",
        "expand",
        "view",
        "alias",
        "cat",
        "squeeze",
        "unsqueeze",
        "transpose",
        "permute",
        "t",
        "select",
    ]
)
"""Operators that put numbers elsewhere and leave them as they are."""

_SUMS = "reduce_sum sum mean reduce_mean reduce_max reduce_min reduce_amax reduce_amin max min amax amin cumsum"

_ABOVE = "exp exp2 softplus sigmoid softmax cosh"
_SQUARES = (
    "abs square mse_loss squared_l2_norm huber_loss smooth_l1_loss l1_norm "
    "p_norm frobenius_norm linalg_vector_norm norm var std"
)

_RULES: Mapping[str, Rule] = {
    **dict.fromkeys(_ABOVE.split(), _always(Sign.ABOVE_ZERO)),
    **dict.fromkeys(_SQUARES.split(), _square),
    **dict.fromkeys(("relu", "relu6"), _cut),
    **dict.fromkeys(MOVES, _first),
    **dict.fromkeys(("concat", "stack", "cat"), _common_sign),
    **dict.fromkeys(_SUMS.split(), _add_up),
    **dict.fromkeys(("sqrt", "log1p", "expm1", "rsqrt", "reciprocal"), _add_up),
    "scale": _scale,
    "elementwise_add": _add,
    "add": _add,
    "elementwise_sub": _subtract,
    "elementwise_mul": _multiply,
    "elementwise_div": _multiply,
    "elementwise_max": _larger,
    "clip": _clip,
    "clamp_min": _clip,
    "pow": _power,
    "where": _least_sign,
}
"""By type of operator, Paddle's name or the one that PyTorch alone has."""
