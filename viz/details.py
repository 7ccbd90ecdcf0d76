"""Details that a picture shows next to the graph: where operators were called, and what was computed."""

from __future__ import annotations

import linecache
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from typing import Any

import numpy as np

from gradtool.engine.core import source
from gradtool.engine.core.records import dataclass
from gradtool.engine.core.source import Location
from gradtool.engine.view.graph import OP, GraphView

AROUND = 3
"""Lines of source above and below the line that called an operator."""

Call = tuple[str, int, str]
"""File, line and function."""


@dataclass(frozen=True, slots=True)
class Details:
    """Call stacks, source text and values.

    Attributes:
        stacks: operator id -> the user's frames, innermost first.
        files: file -> line -> text, as far as lines are shown.
        values: tensor id -> statistics of its value, as :func:`statistics` gives them.
    """

    stacks: Mapping[str, tuple[Call, ...]] = field(default_factory=dict)
    files: Mapping[str, Mapping[int, str]] = field(default_factory=dict)
    values: Mapping[str, Mapping[str, float]] = field(default_factory=dict)


def details(
    view: GraphView, locations: Sequence[Location] = (), values: Mapping[str, Mapping[str, float]] | None = None
) -> Details:
    """The details of a graph.

    Args:
        locations: one for each operator of *view*, in the same order; none at all where nothing is known.
        values: tensor id -> statistics of its value.
    """
    called = _Files()
    operators = [n.id for n in view.nodes if n.kind == OP]
    stacks = {}
    if locations:
        stacks = {i: called.stack(where) for i, where in zip(operators, locations, strict=True) if where}
    return Details(stacks, called.lines(), values or {})


class _Files:
    """Files by short names: their last part, numbered where two are called the same."""

    def __init__(self) -> None:
        self._names: dict[str, str] = {}
        self._used: dict[str, int] = {}
        self._wanted: dict[str, set[int]] = {}
        self._calls: dict[Location, tuple[Call, ...]] = {}

    def stack(self, where: Location) -> tuple[Call, ...]:
        calls = self._calls.get(where)
        if calls is None:
            shorts = source.frames(where)
            calls = self._calls[where] = tuple(
                (self._name(code.co_filename, short), line, function)
                for (code, line), (short, _, function) in zip(where, shorts, strict=True)
            )
            for depth, (code, line) in enumerate(where):
                around = AROUND if depth == 0 else 0
                self._wanted.setdefault(code.co_filename, set()).update(range(line - around, line + around + 1))
        return calls

    def _name(self, path: str, short: str) -> str:
        if path not in self._names:
            again = self._used[short] = self._used.get(short, 0) + 1
            self._names[path] = short if again == 1 else f"{short} ({again})"
        return self._names[path]

    def lines(self) -> dict[str, dict[int, str]]:
        return {self._names[path]: dict(_lines(path, wanted)) for path, wanted in self._wanted.items()}


def _lines(path: str, wanted: Iterable[int]) -> Iterator[tuple[int, str]]:
    """The lines of a file that are there; none when it can no longer be read."""
    text = linecache.getlines(path)
    for number in sorted(wanted):
        if 1 <= number <= len(text):
            yield number, text[number - 1].rstrip()


def statistics(value: np.ndarray[Any, Any]) -> dict[str, float]:
    """Norm, largest magnitude, mean, and how many elements there are, are zero, and are not finite."""
    wide = np.asarray(value).astype(np.complex128 if np.iscomplexobj(value) else np.float64)
    with np.errstate(all="ignore"):
        size = np.abs(wide)
        return {
            "norm": float(np.sqrt(np.square(size).sum())),
            "max_abs": float(size.max()) if wide.size else 0.0,
            "mean": float(wide.real.mean()) if wide.size else 0.0,
            "elements": int(wide.size),
            "zeros": int((wide == 0).sum()),
            "nonfinite": int(wide.size - np.isfinite(wide).sum()),
        }


def format_statistics(numbers: Mapping[str, float]) -> list[tuple[str, str]]:
    """Statistics as people read them: names and texts."""

    def number(name: str) -> str:
        value = numbers[name]
        return f"{value:.4g}" if math.isfinite(value) else str(value)

    entries = [
        (name.replace("max_abs", "largest"), number(name)) for name in ("norm", "max_abs", "mean") if name in numbers
    ]
    if "elements" in numbers:
        total = int(numbers["elements"])
        for name, meaning in (("zeros", "zero"), ("nonfinite", "not finite")):
            if numbers.get(name):
                entries.append((meaning, f"{int(numbers[name])} of {total}"))
    return entries
