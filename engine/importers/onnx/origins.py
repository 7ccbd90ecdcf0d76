"""Origins of initializers by PyTorch's exporter: parameter or buffer, and what it has folded into them.

It writes constants of the model's own (an epsilon, a scale) as initializers, too, and weights that it has transposed
under names like ``val_42``. Files of others say nothing of this: what they hold as real numbers may all be trained.
"""

from __future__ import annotations

import ast
from typing import Any, Final

_KIND: Final = "pkg.torch.export.graph_signature.InputSpec.kind"
_PARTS: Final = "pkg.onnxscript.optimizer.folded_from"


class Origins:
    """Origins of a graph's initializers."""

    def __init__(self, graph: Any) -> None:
        self._kinds: dict[str, str] = {}
        self._parts: dict[str, list[str]] = {}
        for value in graph.value_info:
            told = {prop.key: prop.value for prop in value.metadata_props}
            if _KIND in told:
                self._kinds[value.name] = told[_KIND]
            if _PARTS in told:
                self._parts[value.name] = _names(told[_PARTS])
        self._held = {proto.name for proto in graph.initializer}

    def is_learnt(self, name: str) -> bool:
        """Return whether training may change an initializer of real numbers."""
        if not self._kinds:
            return True
        if name in self._kinds:
            return self._kinds[name] == "PARAMETER"
        return any(_is_weight(part) for part in (name, *self._parts.get(name, ())))

    def name(self, name: str) -> str:
        """Return the name of an initializer: as the one weight that it was folded from, which it holds transposed."""
        weights = [part for part in self._parts.get(name, ()) if _is_weight(part)]
        return weights[0] if len(weights) == 1 and weights[0] not in self._held else name


def _is_weight(name: str) -> bool:
    """Return whether a name is one of a module's members, ``encoder.weight``; nodes of graphs have names
    without dots.
    """
    return "." in name


def _names(text: str) -> list[str]:
    """The names in a list that is written as Python writes it."""
    try:
        names = ast.literal_eval(text)
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return []
    return [name for name in names if isinstance(name, str)] if isinstance(names, list) else []
