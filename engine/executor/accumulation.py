"""Sums whose terms are added as they come.

A weight that many operators read has as many gradients, and a ``sum`` that adds them up in the end; until then all of
them would be alive. Where each comes into being it is added to the sum of those before: they lie in the cache still,
and one array is there in place of all. ``sum`` adds from the first to the last, so this gives the same to the bit.
Whoever watches sees the one operator, which reads all of its terms.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from .plan import Instruction

LARGE = 1 << 14
"""Bytes of a term from which on this pays: an instruction of its own takes longer than adding small ones."""

MANY = 4
"""Terms from which on it pays: fewer are better added by a compiled group with what is made of them."""


def mark(code: list[Instruction]) -> list[Instruction]:
    """Note which instructions are sums of :data:`MANY` large terms that nobody else reads."""
    sums = [i for i in code if i.op is not None and i.op.type == "sum" and len(i.ins) >= MANY]
    if not sums:
        return code
    readers = Counter(r for i in code for r in i.ins)
    for i in sums:
        assert i.op is not None
        (out,) = i.op.output_variables()
        i.in_turn = out.spec.nbytes >= LARGE and all(readers[r] == 1 and r in i.dead for r in i.ins)
    return code


def split_sums(code: Sequence[Instruction]) -> Sequence[Instruction]:
    """*code* with those sums in parts, if their terms come in the order in which they are added.

    The sum of the terms so far is in the register of the first one.
    """
    if not any(i.in_turn for i in code):
        return code
    at = {r: n for n, i in enumerate(code) for r in i.outs}
    parts: dict[int, list[Instruction]] = {}
    whole: dict[int, Instruction] = {}
    for n, i in enumerate(code):
        places = [at.get(r, -1) for r in i.ins] if i.in_turn else [-1]
        if places[0] < 0 or places != sorted(places):
            continue
        first, *rest, last = i.ins
        part = replace(i, likes=frozenset(), effect=True, in_turn=False)
        for r in rest:
            added = replace(part, kernel=_add_term, ins=(first, r), outs=(first,), dead=(r,))
            parts.setdefault(at[r], []).append(added)
        whole[n] = replace(part, kernel=_finish_sum(i.kernel), ins=(first, last))
    steps: list[Instruction] = []
    for n, i in enumerate(code):
        steps.append(whole.get(n, i))
        steps += parts.get(n, ())
    return steps


class _Sum:
    """A sum of some terms: an array of its own that others can be added into, or just the terms."""

    __slots__ = ("_own", "terms")

    def __init__(self, first: Any) -> None:
        self.terms: list[Any] = [first]
        self._own = False

    @property
    def nbytes(self) -> int:
        return sum(getattr(t, "nbytes", 0) for t in self.terms)

    def add(self, term: Any) -> None:
        total = self.terms[0]
        if len(self.terms) > 1 or not _alike(total, term):
            self.terms.append(term)
        elif self._own:
            np.add(total, term, total)
        else:
            self.terms, self._own = [total + term], True


def _alike(a: Any, b: Any) -> bool:
    return type(a) is type(b) is np.ndarray and a.dtype == b.dtype and a.shape == b.shape


def _add_term(total: Any, term: Any) -> _Sum:
    so_far = total if type(total) is _Sum else _Sum(total)
    so_far.add(term)
    return so_far


def _finish_sum(kernel: Callable[..., Any]) -> Callable[[_Sum, Any], Any]:
    """Return a kernel that gives what *kernel* gives of all terms; a term that is no array of their type has waited
    for it.
    """

    def finish(total: _Sum, term: Any) -> Any:
        total.add(term)
        return total.terms[0] if len(total.terms) == 1 else kernel(*total.terms)

    return finish


def is_part(instruction: Instruction) -> bool:
    """Return whether it adds to a sum that is not whole yet, so that its register holds no array."""
    return instruction.kernel is _add_term
