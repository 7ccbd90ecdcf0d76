"""A MODEL argument of the command line, taken apart: the file, the function in it, and the reader of its contents."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any

from ..core import source
from ..core.records import dataclass
from .cells import CodeCell
from .endings import ENDINGS


@dataclass(frozen=True)
class Target:
    """A MODEL argument, taken apart."""

    read: Callable[[], bytes]
    shown: str
    """What tracebacks and messages call the file."""
    file: str
    name: str
    folder: str | None
    """Where its own modules lie; None for what is not Python."""
    function: str | None
    cells: Sequence[CodeCell] = ()
    """The code cells of a notebook."""
    saved: Callable[..., Any] | None = None
    """Reads the model, if the file holds something else than Python."""
    takes_sizes: bool = False
    """Whether that takes the sizes that the file leaves open, see :class:`.importers.UnknownSizes`."""
    package: str | None = None
    """The package around a module."""
    replayed: bool = False
    """Whether :attr:`saved` reads what the file did in another process just now."""

    @property
    def code_path(self) -> str:
        """Path that Python gives to the code of the file where it runs it: its whole path."""
        path = os.path.abspath(self.file)
        is_plain = os.path.isfile(path) and not self.cells and not source.is_installed(path)
        return path if is_plain else self.shown

    @property
    def is_run(self) -> bool:
        """True if the file holds a run that was recorded, and no program."""
        return self.replayed or (self.saved is not None and self.name.lower().endswith(ENDINGS))
