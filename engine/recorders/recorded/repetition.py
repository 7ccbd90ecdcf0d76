"""Calls of a framework's operators that the framework itself computes again, where it is installed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Protocol

from ...core.identity import identity
from ...eager.tensor import Tensor
from ...ops.readings import flatten
from .matching import Entry, Match


class Computation(Protocol):
    """An operator of the framework's, as it is called on other operands."""

    def __call__(self, operands: Sequence[Any], attrs: Mapping[str, Any]) -> Sequence[Any]:
        """Return its results as arrays, None in place of what is none.

        Raises:
            UnsupportedError: the framework refuses the call.
        """
        ...

    def prepare(self, operands: Sequence[Any], attrs: Mapping[str, Any]) -> Callable[[], Any]:
        """Return what calls it once inside :meth:`aside`, on the framework's own tensors, and does nothing else."""
        ...

    def aside(self) -> AbstractContextManager[None]:
        """Inside, the framework computes and nobody watches."""
        ...


Finding = Callable[[str, tuple[Entry, ...], frozenset[str]], Computation | None]
"""Gives the operator of a whole name such as ``aten::add.Tensor`` with tensors in these places and plain arguments of
these names; None where none is."""


class Repetition:
    """A recorded call as the framework computes it again: operands as gradtool's operator takes them, and its results.

    Args:
        finding: asked for the operator when the call is repeated for the first time.
        overload: its whole name.
        inputs: of each tensor that gradtool's operator takes, its place among the framework's arguments.
        attrs: the plain arguments.
        places: for each result of gradtool's operator the place among the framework's, or an array that its gradient
            rule reads nothing but the shape of.
    """

    __slots__ = ("_attrs", "_finding", "_inputs", "_overload", "_places")

    def __init__(
        self,
        finding: Finding,
        overload: str,
        inputs: Sequence[Entry],
        attrs: Mapping[str, Any],
        places: Sequence[Any],
    ) -> None:
        self._finding, self._overload, self._inputs = finding, overload, inputs
        self._attrs, self._places = attrs, places

    def prepare(self, operands: Sequence[Any]) -> Callable[[], Any] | None:
        """Return what computes the call once on *operands*, nested as its slots are; None where nothing does.

        It is to be called inside :meth:`aside`.
        """
        computation = self._computation()
        return None if computation is None else computation.prepare(_flatten(operands), self._attrs)

    def aside(self) -> AbstractContextManager[None]:
        """Inside, the framework computes and nobody watches."""
        computation = self._computation()
        return nullcontext() if computation is None else computation.aside()

    def __call__(self, operands: Sequence[Any]) -> list[Any] | None:
        """Return all results in one flat list; None where nothing computes the call."""
        computation = self._computation()
        if computation is None:
            return None
        results = computation(_flatten(operands), self._attrs)
        return [results[p] if type(p) is int else p for p in self._places]

    def _computation(self) -> Computation | None:
        return self._finding(self._overload, tuple(self._inputs), frozenset(self._attrs))


def _flatten(operands: Sequence[Any]) -> list[Any]:
    return [v for v in flatten(operands, range(len(operands))) if v is not None]


def repeat_call(
    finding: Finding, overload: str, named: Mapping[str, Any], matched: Match, results: Sequence[Tensor]
) -> Repetition | None:
    """Return what repeats a call that gradtool has an operator for; None where that does not take all its tensors.

    Args:
        named: the arguments, with tensors in place of their numbers.
        matched: gradtool's operator.
        results: what the call gave.
    """
    entries: dict[int, list[Entry]] = {}  # a tensor may stand at several places
    for name, value in named.items():
        for place, v in enumerate(value) if isinstance(value, list) else ((None, value),):
            if isinstance(v, Tensor):
                entries.setdefault(identity(v), []).append((name, place))
    inputs: list[Entry] = []
    for v in flatten(matched.operands, range(len(matched.operands))):
        if v is None:
            continue
        if not entries.get(identity(v)):
            return None
        inputs.append(entries[identity(v)].pop(0))
    if any(entries.values()):
        return None
    at = {identity(t): i for i, t in enumerate(results)}
    made = flatten(matched.results, range(len(matched.results)))
    places = [at.get(identity(v), v) for v in made]
    if any(isinstance(p, Tensor) for p in places):
        return None
    attrs = {n: v for n, v in named.items() if is_plain(v)}
    return Repetition(finding, overload, inputs, attrs, places)


def is_plain(value: Any) -> bool:
    """Return whether an argument is given and is neither a tensor nor a list with one."""
    if isinstance(value, list):
        return all(map(is_plain, value))
    return value is not None and not isinstance(value, Tensor)
