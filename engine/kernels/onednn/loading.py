"""oneDNN, loaded when it is first needed, in this process and in those that are forked from it."""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from ...core.errors import BackendError

if TYPE_CHECKING:
    from .library import Library


KEPT = 1024
"""How many compiled parts are kept: a network has three for each of its convolutions."""


class _OneDNN:
    """The library, or why it cannot be used."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._library: Library | None = None
        self._failure: BackendError | None = None

    def library(self) -> Library | None:
        """The library; None where it cannot be used, for good."""
        if self._library is None and self._failure is None:
            with self._lock:
                self._load()
        return self._library

    def failure(self) -> BackendError | None:
        """Why it cannot be used; None where it can."""
        self.library()
        return self._failure

    def compiled(self, case: Any, arrays: Sequence[Any]) -> Any | None:
        """Return what it computes of arrays that lie as these do; None where it does not.

        Args:
            case: what to compute, of which sizes; a row of ``compiling.KINDS``.
        """
        library = self.library()
        if library is None:
            return None
        layouts = tuple([(a.shape, tuple([step // 4 for step in a.strides])) for a in arrays])
        return _compile(library, library.threads(), library.forks, case, layouts)

    def _load(self) -> None:
        if self._library is not None or self._failure is not None:
            return
        from .library import Library

        try:
            library = Library()
        except BackendError as error:
            self._failure = error
            return
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=library.note_fork)
        self._library = library


@lru_cache(KEPT)
def _compile(library: Library, threads: int, forks: int, case: Any, layouts: tuple[Any, ...]) -> Any | None:
    from . import compiling  # what calls C is imported when there is something to call

    return compiling.compile_case(library, case, layouts)


ONEDNN = _OneDNN()
