"""oneDNN, loaded when it is first needed, in this process and in those that are forked from it."""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING

from ...core.errors import BackendError

if TYPE_CHECKING:
    from .library import Library


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
            os.register_at_fork(after_in_child=library.forked)
        self._library = library


ONEDNN = _OneDNN()
