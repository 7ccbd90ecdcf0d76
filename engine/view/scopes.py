"""Layers of operators that read no parameter: an activation, a sum, a reshaping."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterable, Iterator, Sequence
from types import CodeType

from ..core.source import Location

Call = tuple[str, Location]
"""The layer whose parameter an operator reads, empty for none, and where it was called."""

Function = tuple[str, str]
"""A file, and the name of a function in it."""


def fill_layers(calls: Sequence[Call]) -> list[str]:
    """The layer of every operator, in the order of the run; empty where it is not known.

    A ``forward`` calls layers and operators of its own. So what stands in the same function as a call of
    ``blocks.0.mlp.fc`` belongs to ``blocks.0.mlp``: the last one before it, or, where the function has begun anew since
    then, the next one. A layer that holds others and reads a parameter of its own does so in its own ``forward``.
    """
    named = {layer for layer, _ in calls if layer}
    if not named:
        return [""] * len(calls)
    holders = named.intersection(itertools.chain.from_iterable(map(_outer, named)))
    before = _nearest(calls, 1, holders)
    after = _nearest(calls[::-1], -1, holders)[::-1]
    layers = []
    for (layer, _), first, second in zip(calls, before, after, strict=True):
        nearest = first if first is not None else second
        layers.append(layer or nearest or "")
    return layers


def _nearest(calls: Iterable[Call], direction: int, holders: Collection[str]) -> list[str | None]:
    """For every call the layer that the nearest one before it in the same run of its function tells."""
    last: dict[Function, tuple[str, int]] = {}
    functions: dict[CodeType, Function] = {}
    layers: list[str | None] = []
    for layer, location in calls:
        if not location:
            layers.append(None)
            continue
        code, line = location[0]
        function = functions.get(code)
        if function is None:
            function = functions[code] = _function(code)
        neighbour = last.get(function)
        if neighbour is not None and (line - neighbour[1]) * direction < 0:
            neighbour = None
        if layer:
            neighbour = (layer if layer in holders else parent_layer(layer), line)
        if neighbour is None:
            last.pop(function, None)
            layers.append(None)
        else:
            last[function] = (neighbour[0], line)
            layers.append(neighbour[0])
    return layers


def _outer(layer: str) -> Iterator[str]:
    """The layers that *layer* is part of: ``blocks.0`` and ``blocks`` of ``blocks.0.mlp``."""
    while layer := layer.rpartition(".")[0]:
        yield layer


def _function(code: CodeType) -> Function:
    """The function that code belongs to: a comprehension or lambda belongs to the one that it stands in."""
    return code.co_filename, code.co_qualname.partition(".<locals>")[0]


def parent_layer(layer: str) -> str:
    """The layer whose ``forward`` calls *layer*: ``blocks.0`` for ``blocks.0.mlp``, also for ``blocks.0.parts.1``."""
    outer, _, name = layer.rpartition(".")
    return outer.rpartition(".")[0] if name.isdecimal() else outer
