"""Fills by dtype, by layer, or by a number that was measured."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Final

from gradtool.engine.view.graph import OP, GraphView, NodeView

from .legend import Colouring

STEPS: Final = ("#FFF7E0", "#FDDC9B", "#F5B94A", "#E69F00", "#E1812C")
"""From little to much: ever darker, and black text can be read on the last."""

KINDS: Final = ("#56B4E9", "#F0E442", "#CC79A7", "#E69F00", "#009E73", "#D9D9D9", "#F2B8A0", "#B7E3C0")
"""Fills for kinds that have no order."""


def by_dtype(view: GraphView) -> Colouring:
    """Tensors in the colour of their dtype, operators in that of what they make."""
    dtypes = {n.id: n.dtype for n in view.nodes if n.kind != OP and n.dtype is not None}
    for e in view.edges:
        dtype = dtypes.get(e.tensor)
        if dtype is not None:
            dtypes.setdefault(e.source, dtype)
    drawn = {n.id for n in view.drawn()}
    return _kinds("dtype", {i: d for i, d in dtypes.items() if i in drawn})


def by_layer(view: GraphView) -> Colouring:
    """Operators in the colour of their layer, gradient operators in that of what they differentiate."""
    scopes = {n.id: n.scope for n in view.nodes if n.kind == OP}
    layers = {n.id: n.scope or scopes.get(n.pair or "", "") for n in view.nodes if n.id in scopes}
    return _kinds("layer", {i: s for i, s in layers.items() if s})


def _kinds(title: str, kinds: Mapping[str, str]) -> Colouring:
    names = list(dict.fromkeys(kinds.values()))
    colour = {name: KINDS[i % len(KINDS)] for i, name in enumerate(names)}
    notes = dict(kinds) if len(names) > len(KINDS) or title == "dtype" else {}
    return Colouring(title, {i: colour[n] for i, n in kinds.items()}, tuple(colour.items())[:40], notes)


def by_value(
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
    coloured = set()
    for n in view.drawn():
        members = [values[i] for i in (n.members or (n.id,)) if i in values]
        if members:
            sizes[n.id] = joined(members)
            if filled(n):
                coloured.add(n.id)
    shown = {i: v for i, v in sizes.items() if i in coloured}
    positives = [v for v in shown.values() if math.isfinite(v) and v > 0]
    low, high = (math.log(min(positives)), math.log(max(positives))) if positives else (0.0, 0.0)
    width = (high - low) / len(STEPS)

    def fill(v: float) -> str:
        if not math.isfinite(v):
            return "#D55E00"
        if v <= 0 or width <= 0:
            return STEPS[0]
        return STEPS[min(int((math.log(v) - low) / width), len(STEPS) - 1)]

    entries = []
    if width > 0:
        bounds = [math.exp(low + width * i) for i in range(len(STEPS) + 1)]
        entries = [(f"{text(a)} … {text(b)}", c) for a, b, c in zip(bounds, bounds[1:], STEPS, strict=False)]
    elif shown:
        entries = [(text(next(iter(shown.values()))), STEPS[0])]
    if any(not math.isfinite(v) for v in shown.values()):
        entries.append(("not finite", "#D55E00"))
    fills = {i: fill(v) for i, v in shown.items()}
    return Colouring(title, fills, tuple(entries), {i: text(v) for i, v in sizes.items()}, ordered=True)


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
