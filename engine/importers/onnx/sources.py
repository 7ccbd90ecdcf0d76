"""Sources of the operators in an ONNX file: lines of the program that exported it, as far as the file says them.

Exporters of PyTorch write a Python stack into a node's metadata (``pkg.torch.onnx.stack_trace``) or its ``doc_string``.
Without one a node stands in the file itself: its number is the line, and what is written there is the node.
"""

from __future__ import annotations

import re
from typing import Any, Final

from ...core import source
from ...core.source import Location
from ...script.torch_stacks import TORCHS, TorchStacks

_STACKS: Final = ("pkg.torch.onnx.stack_trace", "stack_trace")
_OLD_FRAME: Final = re.compile(r"([^\s():]{1,1000})\((\d{1,9})\): ?([^\n]{0,200})")
"""A frame in a ``doc_string``: ``model.py(12): forward``, innermost first."""
_MOST: Final = 100
_LONGEST: Final = 160


class OnnxSources:
    """The locations of the nodes of one file.

    Args:
        file: its name.
    """

    def __init__(self, file: str) -> None:
        self.file = file
        self.count = 0
        self._stacks = TorchStacks()

    def location(self, node: Any, line: int) -> Location:
        """Return the origin of *node*, the one at *line* of the file."""
        for prop in node.metadata_props:
            if prop.key in _STACKS:
                location = self._stacks.location(prop.value)
                if location:
                    return location
        frames = [m for m in _OLD_FRAME.findall(node.doc_string[:20000]) if not TORCHS.search(m[0])]
        if frames:
            return tuple((source.stand_in_code(_plain(f), _plain(name)), int(n)) for f, n, name in frames[:_MOST])
        return ((source.stand_in_code(self.file, _plain(node.name) or node.op_type, _text(node)), line),)

    def scope(self, node: Any) -> str:
        """The layer that a node belongs to, as ``/encoder/attention/``; ``/`` where the file says nothing.

        Old exporters of PyTorch name nodes after them: ``/encoder/attention/MatMul``.
        """
        if not node.name.startswith("/"):
            return "/"
        parts = [p for p in _plain(node.name).split("/")[1:-1] if p]
        return "/" + "".join(f"{p}/" for p in parts)


def _text(node: Any) -> str:
    """``y = Conv(x, w)``: a node as a line."""
    made = ", ".join(node.output) or "nothing"
    return _plain(f"{made} = {node.op_type}({', '.join(node.input)})"[:_LONGEST])


def _plain(text: str) -> str:
    return "".join(c if c.isprintable() else "?" for c in text[:1000])
