"""Sources of the nodes in an exported program: the lines of the module, and the layers that these stand in."""

from __future__ import annotations

import re
from typing import Any, Final

from ...core import source
from ...core.source import Location
from ...script.torch_stacks import TorchStacks

_AGAIN: Final = re.compile(r"@\d{1,9}$")
"""Behind the path of a layer that is called more than once."""
_FIRST_FORM: Final = re.compile(r"\A[^:]*:\(L\['\w*'\]\.?([\w.]*),")
"""A layer as torch 2.1 says it: ``L__self___bn:(L['self'].bn,torch.nn.modules.batchnorm.BatchNorm2d)``."""
_LONGEST: Final = 160
_DEEPEST: Final = 64


class Pt2Sources:
    """The locations of the nodes of one file.

    Args:
        file: its name.
    """

    def __init__(self, file: str) -> None:
        self.file = file
        self._stacks = TorchStacks()

    def location(self, target: str, outputs: str, metadata: Any, line: int) -> Location:
        """Return the origin of a node; the file itself, its node number *line*, where that is not said."""
        stack = metadata.get("stack_trace") if isinstance(metadata, dict) else None
        if isinstance(stack, str):
            location = self._stacks.location(stack)
            if location:
                return location
        text = _plain(f"{outputs} = {target}"[:_LONGEST])
        return ((source.stand_in_code(self.file, _plain(target), text), line),)

    def scope(self, metadata: Any) -> str:
        """The layer that a node belongs to, as ``/encoder/attention/``; ``/`` where the file says nothing.

        The file has all layers around a node, ``L__self__,,Net;L__self__encoder,encoder,torch.nn.Module``: the second
        of the three is the path.
        """
        stack = metadata.get("nn_module_stack") if isinstance(metadata, dict) else None
        if not isinstance(stack, str) or not stack:
            return "/"
        last = stack.rpartition(";")[2]
        first_form = _FIRST_FORM.match(last)
        path = [first_form[1]] if first_form else last.split(",", 2)[1:2]
        parts = _AGAIN.sub("", path[0]).split(".") if path and path[0] else []
        return "/" + "".join(f"{_plain(p)}/" for p in parts[:_DEEPEST] if p)


def _plain(text: str) -> str:
    return "".join(c if c.isprintable() and c != "/" else "?" for c in text[:1000])
