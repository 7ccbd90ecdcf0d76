"""Cases with dimensions of size one: each of a sample's dimensions alone, those of one size, and all together."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from gradtool.engine.core.errors import GradtoolError
from gradtool.engine.ops.opdef import Operand, specs_of
from tests.ops.calls import call
from tests.ops.cases import Case, nested

Place = tuple[int, int, int]
"""An operand, a place in its list (0 where it is none), a dimension."""


def shrunk(case: Case) -> Iterator[Case]:
    """The case with dimensions of size one, where the operator takes that."""
    places = [
        (i, j, d)
        for i, v in enumerate(case.operands)
        for j, a in enumerate(v if isinstance(v, (list, tuple)) else [v])
        for d in range(np.ndim(a) if a is not None else 0)
    ]
    sizes = {p: _entry(case.operands, p).shape[p[2]] for p in places}
    wide = [p for p in places if sizes[p] > 1]
    choices = [{p} for p in wide]
    choices += [{p for p in wide if p[0] == i and p[2] == d} for i, _, d in wide]
    choices += [{p for p in wide if sizes[p] == n} for n in dict.fromkeys(sizes[p] for p in wide)]
    choices.append({*wide})
    seen = []
    for chosen in choices:
        if chosen in seen:
            continue
        seen.append(chosen)
        for attrs in _attributes(case, {sizes[p] for p in chosen}):
            smaller = _with(case, chosen, attrs)
            if smaller is not None:
                yield smaller
                break


def _entry(operands: list[Operand], place: Place) -> np.ndarray:
    held = operands[place[0]]
    return np.asarray(held[place[1]] if isinstance(held, (list, tuple)) else held)


def _attributes(case: Case, sizes: set[int]) -> Iterator[dict[str, Any]]:
    """The attributes as they are, then with ones for those sizes in lists of numbers."""
    yield case.attrs
    changed = {
        n: tuple(1 if v in sizes else v for v in value)
        for n, value in case.attrs.items()
        if isinstance(value, tuple) and all(type(v) is int for v in value) and sizes.intersection(value)
    }
    if changed:
        yield {**case.attrs, **changed}


def _with(case: Case, chosen: set[Place], attrs: dict[str, Any]) -> Case | None:
    """The case with size one at the places *chosen*; None where the operator refuses it."""
    operands: list[Operand] = []
    for i, v in enumerate(case.operands):
        many = isinstance(v, (list, tuple))
        parts = [_cut(a, {d for k, j, d in chosen if (k, j) == (i, n)}) for n, a in enumerate(v if many else [v])]
        operands.append(parts if many else parts[0])
    for change in (lambda a: a, _first):  # an index may point to what is gone
        tried = [nested(partial(_frozen, change=change), v) for v in operands]
        try:
            case.op.infer_specs(specs_of(tried), attrs)
        except (GradtoolError, ValueError, IndexError, TypeError, ZeroDivisionError):
            return None
        try:
            call(case.op, tried, attrs)
        except (GradtoolError, IndexError, ValueError, ZeroDivisionError):
            continue  # of a value: what the shape rule lets pass is computed
        return Case(case.op, tried, attrs, case.dtype, case.smooth)
    return None


def _cut(a: Any, dims: set[int]) -> Any:
    if a is None:
        return None
    return np.asarray(a)[tuple(slice(0, 1) if d in dims else slice(None) for d in range(np.ndim(a)))]


def _first(a: np.ndarray) -> np.ndarray:
    return np.zeros_like(a) if a.dtype.kind in "iu" else a


def _frozen(a: Any, change: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
    array = np.array(change(np.asarray(a)))
    array.flags.writeable = False
    return array
