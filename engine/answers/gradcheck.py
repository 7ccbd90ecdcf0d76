"""Gradients compared with differences of the function itself, along random directions and with random weights.

First order: ``⟨g, u⟩`` against ``(L(θ + hu) - L(θ - hu)) / 2h`` for each leaf and several random ``u``. Second order:
``⟨Hu, v⟩`` against the mixed difference of L along ``u`` and ``v``. Where a leaf disagrees its elements are looked at
one by one, and the pattern of the errors says what is likely wrong.

An operator with a kink between the points that are compared makes the difference meaningless. What the operators chose
(``kinks.py``) tells. Then the step is made smaller, and if that does not help, the leaf is refused and the operator
named.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from ..core.progress import count
from ..core.records import dataclass
from ..core.result import Result
from ..core.source import Location
from ..runs.repeating import CANNOT
from .arithmetic import ArrayArithmetic

Array = np.ndarray[Any, Any]

OK, WRONG, KINK, UNCHECKED = "ok", "wrong", "kink", "unchecked"
DIRECTIONS = 3
ELEMENTS = 256
"""Up to how many elements a leaf has all of them looked at; of a larger one that many are drawn."""
FEWEST_ELEMENTS = 8
MOST_OPERATORS = 100_000
"""Operators that are computed again for the elements of all leaves: of a long model fewer elements are looked at."""

_BORDER = "a small step away the loss is not finite any more"

_STEPS = (1.0, 1e-2, 1e-3)


class Recomputable(Protocol):
    """Something that can be computed at other values of its leaves.

    Attributes:
        arithmetic: how values and gradients are computed with, wherever they are.
    """

    arithmetic: ArrayArithmetic

    @property
    def operators(self) -> int:
        """Number of operators that :meth:`value` computes."""
        ...

    def value(self, at: Mapping[Hashable, Array]) -> tuple[float, list[Any]]:
        """The weighted sum of the results where some leaves have other values, and what operators chose."""
        ...

    def chooser(self, number: int) -> tuple[str, Location]:
        """The type and the line of the operator behind the choice *number*."""
        ...

    def find_undecided(self, key: Hashable) -> tuple[str, Location] | None:
        """The operator behind a leaf whose choice is a matter of rounding, so that its gradient may be another one."""
        ...


@dataclass
class Claim:
    """A leaf to check.

    Attributes:
        key: what the model knows it by.
        values: in double precision, an array of the model's arithmetic, as the next two.
        gradient: what backward gave, None where nothing arrived.
        dtype: of the leaf itself: its gradient is as precise as that.
        second: the Hessian's product with the direction of the second order, if that is checked.
        arriving: gradients that arrived at operators whose rule the user wrote, for guesses at what is wrong.
        written: these operators, by type and line.
        meant: whether one of these is no derivative on purpose, see :mod:`.own_rules`.
    """

    key: Hashable
    name: str
    values: Any
    gradient: Any
    dtype: Any
    second: Any = None
    along: Array | None = None
    arriving: Sequence[Array] = ()
    written: Sequence[tuple[str, Location]] = ()
    meant: bool = False


@dataclass
class LeafCheck:
    """The result of a check of one leaf.

    Attributes:
        status: ok, wrong, kink or unchecked.
        analytic, numeric: along the direction that disagrees most.
        error: their distance, relative to the size of the gradient.
        index: the worst element.
        element: the gradient there, and the difference.
        cause: what is likely wrong, what has the kink, or why it was not checked.
        loc: where that is.
        suspect: the one operator on the way whose gradient the user wrote.
        own: whether there is one on the way.
        meant: whether one of these is no derivative on purpose.
    """

    name: str
    shape: tuple[int, ...]
    dtype: str
    order: int
    status: str
    analytic: float = 0.0
    numeric: float = 0.0
    error: float = 0.0
    index: tuple[int, ...] | None = None
    element: tuple[float, float] | None = None
    cause: str = ""
    loc: Location = ()
    suspect: str = ""
    own: bool = False
    meant: bool = False

    @property
    def is_passed(self) -> bool:
        """Return whether it was checked and agrees."""
        return self.status == OK

    @property
    def is_unrepeated(self) -> bool:
        """Return whether it was not checked since the pass cannot be repeated."""
        return self.status == UNCHECKED and self.cause.startswith(CANNOT)

    @property
    def ratio(self) -> float | None:
        """The gradient of the worst element in terms of the difference."""
        if self.element is None or self.element[1] == 0:
            return None
        return self.element[0] / self.element[1]


@dataclass
class GradcheckStory(Result):
    """The result of a gradient check: one entry for each leaf and order."""

    entries: list[LeafCheck]

    @property
    def is_passed(self) -> bool:
        """Return whether everything was checked and agrees."""
        return all(e.is_passed for e in self.entries)

    @property
    def obstacles(self) -> dict[str, list[LeafCheck]]:
        """By what keeps a pass from being repeated, the gradients that were not checked for it."""
        by_cause: dict[str, list[LeafCheck]] = {}
        for e in self.entries:
            if e.is_unrepeated:
                by_cause.setdefault(e.cause, []).append(e)
        return by_cause

    @property
    def refusals(self) -> list[LeafCheck]:
        """Those that could not be checked although the pass can be repeated: behind a kink, or not finite."""
        return [e for e in self.entries if e.status in (KINK, UNCHECKED) and not e.is_unrepeated]

    @property
    def wrong(self) -> list[LeafCheck]:
        return [e for e in self.entries if e.status == WRONG]

    def __str__(self) -> str:
        return "\n".join(
            f"{e.name} order {e.order}: {e.status}{f', {e.cause}' if e.cause else ''}" for e in self.entries
        )


def tolerance(dtype: Any, order: int) -> float:
    """Return how far a gradient of that type may be off."""
    first = {"float64": 1e-6, "float32": 2e-3, "float16": 3e-2, "bfloat16": 1e-1}.get(np.dtype(dtype).name, 1e-1)
    return first if order == 1 else max(5e-4, 3 * first)


def check(model: Recomputable, subjects: Sequence[Claim], seed: int = 0, precise: bool = True) -> list[LeafCheck]:
    """Check the gradients of *subjects*.

    Args:
        precise: whether the model computes in double precision.
    """
    rng = np.random.default_rng(seed)
    size = abs(model.value({})[0])
    most = MOST_OPERATORS // (2 * max(model.operators, 1) * max(len(subjects), 1))
    elements = min(max(most, FEWEST_ELEMENTS), ELEMENTS)
    results = [_first(model, s, rng, size, elements, precise) for s in count("gradients compared", subjects)]
    if any(s.second is not None for s in subjects):
        along = {s.key: s.along for s in subjects if s.along is not None}
        results += [_second(model, s, subjects, along, rng, size) for s in subjects if s.second is not None]
    return results


def _first(
    model: Recomputable, s: Claim, rng: np.random.Generator, size: float, elements: int, precise: bool
) -> LeafCheck:
    result = LeafCheck(s.name, s.values.shape, np.dtype(s.dtype).name, 1, OK, own=bool(s.written), meant=s.meant)
    arithmetic = model.arithmetic
    gradient = np.zeros(s.values.shape) if s.gradient is None else s.gradient
    gradient = arithmetic.wide(gradient)
    size_of = arithmetic.size(gradient)
    if not size_of.finite:
        result.status, result.cause = UNCHECKED, "the gradient is not finite (gradtool nan explains it)"
        return result
    limit = tolerance(s.dtype if precise else np.float32, 1)
    norm = size_of.norm
    worst = -1.0
    for _ in range(DIRECTIONS):
        u = np.asarray(rng.normal(size=s.values.shape))
        numeric, kink = _difference(model, s, u, precise)
        if kink is not None:
            result.status = KINK
            result.cause, result.loc = f"{kink[0]} has a kink there", kink[1]
            return result
        if not np.isfinite(numeric):
            result.status, result.cause = UNCHECKED, _BORDER
            return result
        analytic = arithmetic.product(gradient, u)
        scale = norm + abs(numeric) + _floor(size, precise)
        error = abs(analytic - numeric) / scale if scale else 0.0
        if not error <= worst:
            worst = error
            result.analytic, result.numeric, result.error = analytic, numeric, error
    if not result.error <= limit and not _note_kink(model, s, result):
        _note_wrong(s, result)
        _look_closer(model, s, gradient, result, rng, elements, precise)
    return result


def _note_wrong(s: Claim, result: LeafCheck) -> None:
    """Note that a gradient is wrong, and the operator that is to blame where one rule is the user's.

    The operators of the engine itself are tested.
    """
    result.status = WRONG
    suspects = [*dict.fromkeys(s.written)]
    if len(suspects) == 1:
        result.suspect, result.loc = suspects[0]


def _note_kink(model: Recomputable, s: Claim, result: LeafCheck) -> bool:
    chooser = model.find_undecided(s.key)
    if chooser is not None:
        result.status = KINK
        result.cause, result.loc = (
            f"{chooser[0]} has a kink there: {np.dtype(s.dtype).name} rounding decides",
            chooser[1],
        )
    return chooser is not None


def _floor(size: float, precise: bool) -> float:
    """Return what rounding leaves of a difference of numbers as large as *size*, in terms of the tolerance."""
    return (1e-4 if precise else 1e-1) * size


def _step(largest: float, precise: bool) -> float:
    return (1e-6 if precise else 1e-2) * max(1.0, largest)


def _difference(model: Recomputable, s: Claim, u: Array, precise: bool) -> tuple[float, tuple[str, Location] | None]:
    """The central difference along *u*; the operator with a kink in between, if the smallest step does not avoid it."""
    kink = None
    moved = model.arithmetic.moved
    largest = model.arithmetic.size(s.values).largest
    for factor in _STEPS if precise else (1.0,):
        h = factor * _step(largest, precise)
        after, chosen = model.value({s.key: moved(s.values, h, u)})
        before, others = model.value({s.key: moved(s.values, -h, u)})
        kink = _find_difference(model, chosen, others)
        if kink is None:
            return (after - before) / (2 * h), None
    return 0.0, kink


def _find_difference(model: Recomputable, *choices: Sequence[Any]) -> tuple[str, Location] | None:
    first = choices[0]
    for other in choices[1:]:
        pairs = [(number, a, b) for (number, a), (_, b) in zip(first, other, strict=False) if a is not None]
        alike = model.arithmetic.alike([a for _, a, _ in pairs], [b for _, _, b in pairs])
        if not all(alike):
            return model.chooser(pairs[alike.index(False)][0])
    return None


def _second(
    model: Recomputable,
    s: Claim,
    subjects: Sequence[Claim],
    along: Mapping[Hashable, Array],
    rng: np.random.Generator,
    size: float,
) -> LeafCheck:
    result = LeafCheck(s.name, s.values.shape, np.dtype(s.dtype).name, 2, OK)
    assert s.second is not None
    arithmetic = model.arithmetic
    second = arithmetic.wide(s.second)
    size_of = arithmetic.size(second)
    if not size_of.finite:
        result.status, result.cause = UNCHECKED, "the gradient's own gradient is not finite (gradtool nan explains it)"
        return result
    v = rng.normal(size=s.values.shape)
    values = {o.key: o.values for o in subjects}
    h = 1e-4

    def at(i: int, j: int) -> tuple[float, list[Any]]:
        point = {k: arithmetic.moved(values[k], i * h, u) for k, u in along.items()}
        point[s.key] = arithmetic.moved(point.get(s.key, values[s.key]), j * h, v)
        return model.value(point)

    corners = [at(1, 1), at(1, -1), at(-1, 1), at(-1, -1)]
    kink = _find_difference(model, *[c for _, c in corners])
    if kink is not None:
        result.status = KINK
        result.cause, result.loc = f"{kink[0]} has a kink there", kink[1]
        return result
    (a, b, c, d) = [value for value, _ in corners]
    result.numeric = (a - b - c + d) / (4 * h * h)
    result.analytic = arithmetic.product(second, v)
    if not np.isfinite(result.numeric):
        result.status, result.cause = UNCHECKED, _BORDER
        return result
    scale = size_of.norm + abs(result.numeric) + 1e-3 * size
    result.error = abs(result.analytic - result.numeric) / scale if scale else 0.0
    if not result.error <= tolerance(s.dtype, 2) and not _note_kink(model, s, result):
        result.status = WRONG
        result.cause = "the gradient's own gradient is wrong: look at what computes the gradient"
    return result


# -- what is wrong ----------------------------------------------------------------------------------------------------


def _look_closer(
    model: Recomputable,
    s: Claim,
    gradient: Any,
    result: LeafCheck,
    rng: np.random.Generator,
    elements: int,
    precise: bool,
) -> None:
    """Fill in the worst of so many elements, and the likely cause."""
    total = s.values.size
    whole = total <= elements
    chosen = np.arange(total) if whole else np.sort(rng.choice(total, elements, replace=False))
    numeric = np.zeros(len(chosen))
    for k, i in enumerate(chosen):
        one: Array = np.zeros(s.values.shape)
        one.flat[i] = 1.0
        numeric[k] = _difference(model, s, one, precise)[0]
    analytic = model.arithmetic.pick(gradient, chosen)
    k = int(np.argmax(np.abs(analytic - numeric)))
    result.index = tuple(int(n) for n in np.unravel_index(int(chosen[k]), s.values.shape))
    result.element = float(analytic[k]), float(numeric[k])
    shape = s.values.shape if whole else None
    result.cause = likely_cause(analytic, numeric, shape, s, limit=tolerance(s.dtype, 1))


def likely_cause(a: Array, n: Array, shape: tuple[int, ...] | None, s: Claim, limit: float) -> str:
    """Return what the pattern of errors looks like.

    Args:
        a, n: gradient and difference of the elements looked at.
        shape: of the leaf, if these are all its elements.
    """
    for guess in _GUESSES:
        text = guess(a, n, shape, s, limit)
        if text:
            return text
    off = int((np.abs(a - n) > limit * (np.abs(n) + np.abs(n).max(initial=0.0))).sum())
    return f"{off} of {a.size} elements looked at are wrong, without a pattern"


def _is_near(x: Array, y: Array, limit: float = 1e-2) -> bool:
    return x.shape == y.shape and float(np.linalg.norm(x - y)) <= limit * float(np.linalg.norm(y)) > 0


def _diagnose_missing(a: Array, n: Array, shape: Any, s: Claim, limit: float) -> str:
    return "no gradient arrives, but the result depends on it: a detached branch?" if not a.any() else ""


def _surplus(a: Array, n: Array, shape: Any, s: Claim, limit: float) -> str:
    small = np.abs(n).max(initial=0.0) <= 1e-6 * np.abs(a).max(initial=0.0)
    return "a gradient arrives, but the result does not depend on it" if small else ""


def _diagnose_rounding(a: Array, n: Array, shape: Any, s: Claim, limit: float) -> str:
    if np.dtype(s.dtype).name == "float64" or not _is_near(a, n, 10 * limit):
        return ""
    return f"precision: {np.dtype(s.dtype).name} rounds it this far; compare in float64"


def _diagnose_unsummed(a: Array, n: Array, shape: Any, s: Claim, limit: float) -> str:
    """A gradient that stands for one of several uses: the sum over a broadcast dimension is missing."""
    if shape is None:
        return ""
    whole, wanted = a.reshape(shape), n.reshape(shape)
    for g in s.arriving:
        for axis in range(g.ndim):
            if g.shape[axis] < 2 or not _is_near(g.sum(axis=axis).reshape(-1), wanted.reshape(-1)):
                continue
            for part in (*np.moveaxis(g, axis, 0)[:8], g.mean(axis=axis)):
                if _is_near(part.reshape(-1), whole.reshape(-1)):
                    return f"the sum over dimension {axis} is missing, along which it is broadcast"
    return ""


def _factor(a: Array, n: Array, shape: Any, s: Claim, limit: float) -> str:
    c = float(np.vdot(a, n) / np.vdot(n, n)) if n.any() else 0.0
    if c == 0 or not _is_near(a, c * n, max(1e-2, limit)):
        return ""
    if abs(c + 1) < 1e-2:
        return "the sign is wrong"
    nice = next((f"1/{k}" for k in range(2, 1025) if abs(c * k - 1) < 5e-3), f"{c:.4g}")
    mean = " (a mean where a sum belongs, or a sum that is missing?)" if nice.startswith("1/") else ""
    return f"wrong by a factor of {nice}{mean}"


def _diagnose_transposed(a: Array, n: Array, shape: Any, s: Claim, limit: float) -> str:
    if shape is None or len(shape) < 2:
        return ""
    flipped = np.swapaxes(n.reshape(shape), -1, -2).reshape(-1)
    return "transposed: it is right with its last two dimensions swapped" if _is_near(a, flipped) else ""


_GUESSES: tuple[Callable[[Array, Array, Any, Claim, float], str], ...] = (
    _diagnose_missing,
    _surplus,
    _diagnose_transposed,
    _diagnose_unsummed,
    _diagnose_rounding,
    _factor,
)
