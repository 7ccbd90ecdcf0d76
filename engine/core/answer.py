"""Base of answers about models: they print as the command prints them."""

from __future__ import annotations

from typing import Any

from . import upward
from .result import Result


class Answered(Result):
    """An answer to a question about a model: ``print`` shows what the command shows, ``data`` is its JSON object."""

    __slots__ = ()

    @property
    def findings(self) -> int:
        """Number of things that are wrong, each cause counted once; 0 for answers that judge nothing."""
        return 0

    def __str__(self) -> str:
        return str(upward.part("results").print_answer(self)).rstrip("\n")

    @property
    def data(self) -> dict[str, Any]:
        """Content that the command prints with ``--format json``, without the name of its schema."""
        data: dict[str, Any] = upward.part("results").view(self).data
        return data
