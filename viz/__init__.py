"""Pictures of forward and backward graphs.

``graph(program_or_tensor)`` gives a :class:`Picture`, which notebooks show, ``show()`` opens and ``save("graph.html")``
writes; ``pairs(program_or_tensor)`` gives a table of forward operators and their gradient operators. Both are loaded
when they are first used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .picture import Picture, graph, pairs

__all__ = ["Picture", "graph", "pairs"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'gradtool.viz' has no attribute {name!r}")
    return getattr(importlib.import_module(".picture", __name__), name)
