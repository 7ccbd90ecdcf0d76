"""Stacks of Python that exporters of PyTorch write into files, as places in the user's program."""

from __future__ import annotations

import re
from typing import Final

from ..core.source import Location
from ..ir.paddle.callstacks import Callstacks

TORCHS: Final = re.compile(r"(?:site|dist)-packages[/\\](?:torch|onnxscript)[/\\]")
"""What the paths of files have in them that are PyTorch's own."""


class TorchStacks:
    """The locations in one file: equal stacks are one."""

    def __init__(self) -> None:
        self._stacks = Callstacks()

    def location(self, text: str) -> Location:
        """Return the location of a stack, without PyTorch's own frames; nowhere where the text is no stack."""
        return self._stacks.location([line for line in text.splitlines() if not TORCHS.search(line)])
