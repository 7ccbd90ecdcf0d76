"""Fills by dtype, by layer, or by a number that was measured."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Final

from gradtool.engine.core.records import dataclass
from gradtool.engine.view.graph import OP, GraphView, NodeView

from .legend import Colouring

STEPS: Final = ("#FFF7E0", "#FDDC9B", "#F5B94A", "#E69F00", "#E1812C")
"""From little to much: ever darker, and black text can be read on the last."""

KINDS: Final = ("#56B4E9", "#F0E442", "#CC79A7", "#E69F00", "#009E73", "#D9D9D9", "#F2B8A0", "#B7E3C0")
"""Fills for kinds that have no order."""

_NOT_FINITE: Final = "#D55E00"


def colour_by_dtype(view: GraphView) -> Colouring:
    """Tensors in the colour of their dtype, operators in that of what they make."""
    dtypes = {n.id: n.dtype for n in view.nodes if n.kind != OP and n.dtype is not None}
    for e in view.edges:
        dtype = dtypes.get(e.tensor)
        if dtype is not None:
            dtypes.setdefault(e.source, dtype)
    drawn = {n.id for n in view.drawn()}
    return _kinds("dtype", {i: d for i, d in dtypes.items() if i in drawn})


def colour_by_layer(view: GraphView) -> Colouring:
    """Operators in the colour of their layer, gradient operators in that of what they differentiate."""
    scopes = {n.id: n.scope for n in view.nodes if n.kind == OP}
    layers = {n.id: n.scope or scopes.get(n.pair or "", "") for n in view.nodes if n.id in scopes}
    return _kinds("layer", {i: s for i, s in layers.items() if s})


def _kinds(title: str, kinds: Mapping[str, str]) -> Colouring:
    names = list(dict.fromkeys(kinds.values()))
    colour = {name: KINDS[i % len(KINDS)] for i, name in enumerate(names)}
    notes = dict(kinds) if len(names) > len(KINDS) or title == "dtype" else {}
    return Colouring(title, {i: colour[n] for i, n in kinds.items()}, tuple(colour.items())[:40], notes)


def colour_by_value(
    view: GraphView,
    values: Mapping[str, float],
    title: str,
    text: Callable[[float], str],
    joined: Callable[[Iterable[float]], float] = sum,
    filled: Callable[[NodeView], bool] = lambda node: True,
) -> Colouring:
    """Nodes in the colour of a number, in five steps of equal ratio; what is not finite stands out.

    Args:
        values: id -> number, also for nodes that were folded.
        text: how a number is written.
        joined: the number of a folded node, from those of its members.
        filled: the nodes that get a colour; of others the number is written only.
    """
    sizes: dict[str, float] = {}
    coloured: dict[str, float] = {}
    for n in view.drawn():
        members = [values[i] for i in (n.members or (n.id,)) if i in values]
        if members:
            sizes[n.id] = joined(members)
        if members and filled(n):
            coloured[n.id] = sizes[n.id]
    scale = _Scale.span(coloured.values())
    fills = {i: scale.fill(v) for i, v in coloured.items()}
    return Colouring(title, fills, scale.entries(text), {i: text(v) for i, v in sizes.items()}, ordered=True)


@dataclass(frozen=True)
class _Scale:
    """Mapping of numbers to :data:`STEPS`, on a logarithmic scale."""

    values: tuple[float, ...]
    low: float
    width: float
    """Of one step; 0 where all positive numbers are the same."""

    @classmethod
    def span(cls, values: Iterable[float]) -> _Scale:
        """From the least positive number to the largest."""
        values = tuple(values)
        logs = [math.log(v) for v in values if 0 < v < math.inf]
        if not logs:
            return cls(values, 0.0, 0.0)
        return cls(values, min(logs), (max(logs) - min(logs)) / len(STEPS))

    def fill(self, value: float) -> str:
        if not math.isfinite(value):
            return _NOT_FINITE
        if value <= 0 or self.width <= 0:
            return STEPS[0]
        return STEPS[min(int((math.log(value) - self.low) / self.width), len(STEPS) - 1)]

    def entries(self, text: Callable[[float], str]) -> tuple[tuple[str, str], ...]:
        """Return the text of the legend for each colour."""
        entries = []
        if self.width > 0:
            bounds = [text(math.exp(self.low + self.width * i)) for i in range(len(STEPS) + 1)]
            entries = [(f"{a} … {b}", c) for a, b, c in zip(bounds, bounds[1:], STEPS, strict=False)]
        elif self.values:
            entries = [(text(self.values[0]), STEPS[0])]
        if not all(map(math.isfinite, self.values)):
            entries.append(("not finite", _NOT_FINITE))
        return tuple(entries)


def root_of_squares(values: Iterable[float]) -> float:
    """The norm of several arrays from the norm of each."""
    return math.sqrt(sum(v * v for v in values))


def amount(value: float) -> str:
    """``512 B``, ``3.2 kB``, ``1.5 MB``."""
    for unit in ("B", "kB", "MB"):
        if value < 999.5:
            return f"{value:.3g} {unit}"
        value /= 1000
    return f"{value:.4g} GB"


def duration(seconds: float) -> str:
    """``12 µs``, ``3.4 ms``."""
    if seconds < 1e-3:
        return f"{seconds * 1e6:.3g} µs"
    return f"{seconds * 1e3:.3g} ms" if seconds < 1 else f"{seconds:.3g} s"
