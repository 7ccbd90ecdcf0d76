"""One value of the two that the ways of a branch leave."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from gradtool.engine.core import source
from gradtool.engine.ir.program import Block
from gradtool.engine.ir.variable import Variable
from gradtool.paddle import _creation
from gradtool.paddle._structure import difference

from .refusals import Unset

NUMBERS = (bool, int, float)

Copy = Callable[[Any], Any]
Select = Callable[[Any, Any], Any]


class Merging:
    """Chooses between what two ways leave.

    Args:
        on_true, on_false: copy a variable of each way out of its block; anything else as it is.
        select: the operator that chooses one of two variables or numbers.
    """

    def __init__(self, on_true: Copy, on_false: Copy, select: Select) -> None:
        self._on_true = on_true
        self._on_false = on_false
        self._select = select
        self.place = source.here()

    def one(self, name: str, t: Any, f: Any) -> Any:
        """The value that *name* has after the branch; an :class:`Unset` where there is none for both ways."""
        if t is f:
            return t
        if isinstance(t, Unset) or isinstance(f, Unset):
            return self._with_unset(name, t, f)
        if isinstance(t, Variable) or isinstance(f, Variable) or _differ(t, f):
            return self._chosen(name, t, f)
        if isinstance(t, (list, tuple, dict)) and isinstance(f, (list, tuple, dict)):
            return self._structure(name, t, f)
        if type(t) is type(f) and _equal(t, f):
            return t
        return self._none(name, f"one way leaves {_described(t)} and the other {_described(f)}")

    def _none(self, name: str, why: str) -> Unset:
        return Unset(name, f"{why}, and a tensor decides between them", self.place)

    def _with_unset(self, name: str, t: Any, f: Any) -> Any:
        if isinstance(t, Unset) and isinstance(f, Unset):
            return t if t.why else f
        unset, value, there = (t, f, "the other") if isinstance(t, Unset) else (f, t, "one")
        if unset.why:
            return unset
        if name.startswith("__jit_value") and isinstance(value, (Variable, *NUMBERS)):
            # What a function returns is only read where it was set.
            blank = partial(zeros_like, value)
            return self._chosen(name, *((blank, f) if t is unset else (t, blank)))
        return self._none(name, f"only {there} way of the branch gives it a value")

    def _chosen(self, name: str, t: Any, f: Any) -> Any:
        kinds = [v for v in (t, f) if not callable(v) or isinstance(v, Variable)]
        if not all(isinstance(v, (Variable, *NUMBERS)) for v in kinds):
            return self._none(name, f"one way leaves {_described(t)} and the other {_described(f)}")
        variables = [v for v in kinds if isinstance(v, Variable)]
        if len(variables) == 2:
            a, b = variables
            if a.dtype is not b.dtype:
                return self._none(name, f"one way leaves {a.dtype.name} and the other {b.dtype.name}")
            if a.ndim != b.ndim:
                return self._none(name, f"one way leaves the shape {list(a.shape)} and the other {list(b.shape)}")
        elif not _meet(kinds):
            return self._none(name, f"one way leaves {_described(t)} and the other {_described(f)}")
        if not variables and any(isinstance(v, float) for v in kinds):
            t, f = (float(v) if isinstance(v, int) else v for v in (t, f))
        return self._select(self._on_true(t), self._on_false(f))

    def _structure(self, name: str, t: Any, f: Any) -> Any:
        if type(t) is not type(f) or (why := _unlike(t, f)) is not None:
            why = f"{_described(t)} and {_described(f)}" if type(t) is not type(f) else why
            return self._none(name, f"the ways leave {why}")
        if isinstance(t, dict):
            values = {k: self.one(f"{name}[{k!r}]", t[k], f[k]) for k in t}
            unset = next((v for v in values.values() if isinstance(v, Unset)), None)
            return values if unset is None else Unset(name, unset.why, unset.place)
        entries = [self.one(f"{name}[{i}]", a, b) for i, (a, b) in enumerate(zip(t, f, strict=True))]
        unset = next((v for v in entries if isinstance(v, Unset)), None)
        if unset is not None:
            return Unset(name, unset.why, unset.place)
        if hasattr(t, "_fields"):
            return type(t)(*entries)
        return type(t)(entries)


def _meet(values: list[Any]) -> bool:
    """Return whether numbers, and at most one variable among them, are of one kind."""
    numbers = [v for v in values if isinstance(v, NUMBERS)]
    variable = next((v for v in values if isinstance(v, Variable)), None)
    if variable is None:
        return len({isinstance(v, bool) for v in numbers}) <= 1
    if variable.ndim and numbers:
        return False
    kind = variable.dtype
    if kind.name == "bool":
        return all(isinstance(v, bool) for v in numbers)
    return all(type(v) is int or (type(v) is float and kind.is_differentiable) for v in numbers)


def zeros_like(value: Any) -> Any:
    """Zeros in the place of *value*: a number, or a variable of its type and number of dimensions."""
    if not isinstance(value, Variable):
        return type(value)(0)
    return _creation.zeros([max(d, 1) for d in value.shape], value.dtype)


def copied_out(parent: Block, value: Any) -> Any:
    """*value*, which the current block computes, as a variable of *parent*."""
    if callable(value) and not isinstance(value, Variable):
        value = value()
    if not isinstance(value, Variable):
        return value
    out = parent.create_var(shape=value.shape, dtype=value.dtype, stop_gradient=value.stop_gradient, type=value.kind)
    out.loc = source.NOWHERE
    _creation.assign(value, out)
    return out


def _differ(t: Any, f: Any) -> bool:
    """Return whether two numbers differ: the choice is then known by the program only."""
    numbers = isinstance(t, NUMBERS) and isinstance(f, NUMBERS)
    return numbers and not (type(t) is type(f) and (t == f or t != t))


def _equal(t: Any, f: Any) -> bool:
    try:
        return bool(t == f)
    except (TypeError, ValueError):
        return False


def _unlike(t: Any, f: Any) -> str | None:
    shallow = difference(
        dict.fromkeys(t) if isinstance(t, dict) else [None] * len(t),
        dict.fromkeys(f) if isinstance(f, dict) else [None] * len(f),
    )
    return None if shallow is None else f"{shallow}"


def _described(value: Any) -> str:
    if isinstance(value, Variable):
        return f"a {value.dtype.name} tensor of shape {list(value.shape)}"
    if value is None or isinstance(value, (str, *NUMBERS)):
        return repr(value)
    return f"a {type(value).__name__}"
