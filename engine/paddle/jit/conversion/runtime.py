"""Functions that rewritten code calls: each function stands for one construct of Python."""

from __future__ import annotations

import operator
from collections.abc import Callable
from functools import partial
from typing import Any

from gradtool.engine.core.source import is_ours
from gradtool.engine.eager.tensor import Tensor
from gradtool.engine.ir.variable import Variable
from gradtool.paddle import _creation, _logic

from . import growing
from .branches import State, branched, chosen, returned, scalar, truth
from .loops import Rows, VariableRange, has_unknown_length, iterated, length, repeated
from .members import in_place, member, put_part
from .refusals import Unset, refused
from .tracing import current

__all__ = [
    "State",
    "asserted",
    "between",
    "both",
    "branched",
    "callee",
    "chosen",
    "compared",
    "either",
    "in_place",
    "iterated",
    "member",
    "member_set",
    "opposite",
    "part",
    "part_set",
    "part_stepped",
    "peeked",
    "plain_test",
    "repeated",
    "returned",
    "stepped",
    "value",
]


def value(read: Any) -> Any:
    """Return the value of a name or an expression: a tensor of dynamic mode is a variable of the program here."""
    if isinstance(read, Unset):
        return read.read()
    if isinstance(read, Tensor):
        trace = current()
        return read if trace is None else trace.captured(read)
    return read


# -- truth ------------------------------------------------------------------------------------------------------------


def both(first: Any, second: Callable[[], Any], cautious: bool) -> Any:
    """``first and second()``.

    Args:
        cautious: *second* may fail where *first* does not hold.
    """
    if not isinstance(first, Variable):
        return second() if first else first
    holds = truth(first)
    if cautious:
        return chosen(holds, lambda: _answer(second()), lambda: holds)
    other = _answer(second())
    if isinstance(other, Variable) and other.dtype.name == "bool":
        return _logic.logical_and(holds, other)
    return chosen(holds, lambda: other, lambda: holds)


def either(first: Any, second: Callable[[], Any], cautious: bool) -> Any:
    """``first or second()``; see :func:`both`."""
    if not isinstance(first, Variable):
        return first or second()
    holds = truth(first)
    if cautious:
        return chosen(holds, lambda: holds, lambda: _answer(second()))
    other = _answer(second())
    if isinstance(other, Variable) and other.dtype.name == "bool":
        return _logic.logical_or(holds, other)
    return chosen(holds, lambda: holds, lambda: other)


def _answer(operand: Any) -> Any:
    """A bool variable without dimensions, if it is one of one element."""
    is_bool = isinstance(operand, Variable) and operand.dtype.name == "bool" and operand.spec.count in (1, -1)
    return truth(operand) if is_bool else operand


def opposite(operand: Any) -> Any:
    """``not operand``."""
    return _logic.logical_not(truth(operand)) if isinstance(operand, Variable) else not operand


_COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {
    "Eq": operator.eq,
    "NotEq": operator.ne,
    "Lt": operator.lt,
    "LtE": operator.le,
    "Gt": operator.gt,
    "GtE": operator.ge,
    "Is": operator.is_,
    "IsNot": operator.is_not,
    "In": lambda a, b: a in b,
    "NotIn": lambda a, b: a not in b,
}


def compared(left: Any, *pairs: tuple[str, Callable[[], Any]]) -> Any:
    """``left < a < b``: each operand is computed once, and none after one that does not hold."""
    result: Any = True
    for sign, operand in pairs:
        right = operand()
        result = both(result, partial(_COMPARISONS[sign], left, right), False)
        if not isinstance(result, Variable) and not result:
            return result
        left = right
    return result


def asserted(test: Any, message: Callable[[], Any]) -> None:
    """``assert test, message()``."""
    if isinstance(test, Variable):
        from gradtool.paddle.static._effects import Assert

        Assert(truth(test))
    elif not test:
        said = message()
        raise AssertionError(*(() if said is None else (said,)))


def plain_test(test: Any) -> Any:
    """The test of a branch or loop that stays Python's: no tensor decides there.

    Raises:
        ConversionError: a tensor does.
    """
    if isinstance(test, Variable):
        raise refused(
            "a tensor decides here, in a branch or loop that is left from inside of try, match or with",
            "return or break outside of it: note the result in a variable first",
        )
    return test


# -- names and parts --------------------------------------------------------------------------------------------------


def peeked(read: Callable[[], Any], name: str) -> Any:
    """Return the value of a name, without an error if it has none."""
    try:
        held = read()
    except (NameError, AttributeError):
        return Unset(name)
    return held if isinstance(held, Unset) else value(held)


def member_set(owner: Any, name: str, held: Any) -> None:
    """Set an attribute, or let it be as if it had never been set."""
    if not isinstance(held, Unset) or held.why:
        setattr(owner, name, held)
    elif name in getattr(owner, "__dict__", {}):
        delattr(owner, name)


def part_set(home: Any, index: Any, new: Any) -> None:
    """``home[index] = new``."""
    if isinstance(home, Variable):
        put_part(home, index, new)
    else:
        home[index] = new


_STEPS: dict[str, Callable[[Any, Any], Any]] = {
    "Add": operator.iadd,
    "Sub": operator.isub,
    "Mult": operator.imul,
    "MatMult": operator.imatmul,
    "Div": operator.itruediv,
    "FloorDiv": operator.ifloordiv,
    "Mod": operator.imod,
    "Pow": operator.ipow,
    "LShift": operator.ilshift,
    "RShift": operator.irshift,
    "BitOr": operator.ior,
    "BitXor": operator.ixor,
    "BitAnd": operator.iand,
}


def stepped(before: Any, by: Any, sign: str) -> Any:
    """Return the value of ``before += by``."""
    return _STEPS[sign](before, by)


def part_stepped(home: Any, index: Any, by: Any, sign: str) -> None:
    """``home[index] += by``."""
    part_set(home, index, stepped(value(home[index]), by, sign))


# -- calls ------------------------------------------------------------------------------------------------------------


def callee(function: Any) -> Any:
    """Return the function to call in the place of *function*."""
    try:
        special = _SPECIAL.get(function)
    except TypeError:  # it has no hash
        special = None
    if special is not None:
        return special
    if getattr(function, "__name__", "") in ("stack", "concat") and is_ours(getattr(function, "__module__", "") or ""):
        return growing.joining(function)
    if isinstance(function, Unset):
        return function.read()
    from .calls import converted

    return converted(function)


def between(*ends: Any) -> slice:
    """``start:stop:step`` between brackets."""
    return slice(*ends)


def part(home: Any, index: Any) -> Any:
    """``home[index]``."""
    return value(home[index]) if growing.array_of(home) is None else growing.entry(home, index)


def _len(x: Any) -> Any:
    if growing.array_of(x) is not None:
        return growing.length(x)
    return length(x) if isinstance(x, Variable) else len(x)


def _copied(python: Callable[..., Any]) -> Callable[..., Any]:
    def copy(*args: Any, **named: Any) -> Any:
        if any(growing.array_of(v) is not None for v in args):
            raise refused(
                f"{python.__name__}() of a list that grows in a loop, where a tensor decides how often",
                "join its entries with paddle.stack or paddle.concat",
            )
        return python(*args, **named)

    return copy


def _range(*ends: Any) -> Any:
    if not any(isinstance(v, Variable) for v in ends):
        return range(*ends)
    for v in ends:
        if isinstance(v, Variable) and v.spec.count not in (1, -1):
            raise refused(f"range() of a tensor of shape {list(v.shape)}", "give it tensors of one element")
    scalars = [scalar(v) for v in ends]
    return VariableRange(0, scalars[0]) if len(scalars) == 1 else VariableRange(*scalars)


def _enumerate(items: Any, start: int = 0) -> Any:
    if has_unknown_length(items):
        return Rows([items], lambda i, rows: (i + start, rows[0]))
    return enumerate(items, start)


def _zip(*items: Any, strict: bool = False) -> Any:
    if not any(has_unknown_length(v) for v in items):
        return zip(*items, strict=strict)
    if not all(isinstance(v, Variable) for v in items):
        raise refused(
            "zip() of a tensor whose length is not known, with something that is no tensor", "loop over one of them"
        )
    return Rows(list(items), lambda i, rows: tuple(rows))


def _cast(kind: str, python: Callable[..., Any]) -> Callable[..., Any]:
    def convert(*args: Any, **named: Any) -> Any:
        if args and isinstance(args[0], Variable):
            return _creation.cast(scalar(args[0]), kind)
        return python(*args, **named)

    return convert


def _print(*args: Any, **named: Any) -> None:
    if not any(isinstance(v, Variable) for v in args):
        print(*args, **named)
        return
    from gradtool.paddle.static import Print

    words = " ".join(str(v) for v in args if not isinstance(v, Variable))
    for v in args:
        if isinstance(v, Variable):
            Print(v, message=words or None, print_phase="forward")


def _isinstance(x: Any, kinds: Any) -> bool:
    return isinstance(x, kinds) or (isinstance(x, Variable) and isinstance(_A_TENSOR, kinds))


_A_TENSOR = Tensor.__new__(Tensor)
"""What a variable stands for, when somebody asks for its class."""


def _type(*args: Any, **named: Any) -> Any:
    return Tensor if len(args) == 1 and isinstance(args[0], Variable) else type(*args, **named)


_SPECIAL: dict[Any, Callable[..., Any]] = {
    len: _len,
    range: _range,
    enumerate: _enumerate,
    zip: _zip,
    int: _cast("int64", int),
    float: _cast("float32", float),
    bool: _cast("bool", bool),
    print: _print,
    isinstance: _isinstance,
    type: _type,
    **{python: _copied(python) for python in (list, tuple, sorted, reversed, sum, map, iter, max, min)},
}
