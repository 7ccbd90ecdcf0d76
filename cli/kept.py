"""Recorded graphs that outlive the backward passes of a model file.

A file that calls ``backward()`` itself frees what its operators retained, and behaves so while it runs: a second pass
fails as it always does. Afterwards the command looks at the same graph, for which it takes the values back.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from typing import Any

from gradtool.engine.eager.pylayer import LayerNode
from gradtool.engine.eager.tape import GradNode


class _Kept(list[Any]):
    """Stands in the place of the write counters of a freed node, which nothing reads any more, and holds all it had."""

    def __init__(self, node: GradNode) -> None:
        super().__init__()
        self.args = node.args
        self.versions = node.versions
        self.saved = node.ctx._saved if isinstance(node, LayerNode) else None


@contextlib.contextmanager
def kept_graphs() -> Iterator[None]:
    """Inside, freed nodes can be restored by :func:`restore`; they look freed to everyone else."""
    originals = {cls: cls.__dict__["free"] for cls in (GradNode, LayerNode)}

    def keeping(free: Any) -> Any:
        def freed(node: GradNode, *where: Any) -> None:
            kept = node.versions if isinstance(node.versions, _Kept) or node.args is None else _Kept(node)
            free(node, *where)
            node.versions = kept

        return freed

    for cls, free in originals.items():
        setattr(cls, "free", keeping(free))  # noqa: B010
    try:
        yield
    finally:
        for cls, free in originals.items():
            setattr(cls, "free", free)  # noqa: B010


def restore(nodes: Iterable[GradNode]) -> bool:
    """Give freed nodes back what they retained; whether there was any."""
    found = False
    for node in nodes:
        kept = node.versions
        if isinstance(kept, _Kept):
            node.args, node.versions = kept.args, kept.versions
            if isinstance(node, LayerNode):
                node.ctx._saved = kept.saved
            found = True
    return found
