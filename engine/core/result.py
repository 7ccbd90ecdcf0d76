"""Base of answers: they show themselves in notebooks, and are saved to files."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

from . import upward


class Result:
    """An answer that people read: text when printed, tables in notebooks.

    What the tables hold is decided where pictures and tables are made (``gradtool.viz.results``), which is loaded when
    it is first used.
    """

    __slots__ = ()

    def show(self) -> None:
        """Show it: in a notebook below the cell, elsewhere as text on standard output."""
        _results().show(self)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write it to a file, whole or not at all.

        Args:
            path: its ending says what is written: ``.txt``, ``.html``, ``.md`` or ``.tsv``.

        Raises:
            ValueError: another ending.
            OSError: the file cannot be written.
        """
        _results().save(self, path)

    def to_pandas(self) -> Any:
        """Its rows as a ``pandas.DataFrame``, which has a column such as ``source.file`` for each member of an object.

        Raises:
            UnsupportedError: pandas is not installed, or there are no rows (a ValueError).
        """
        return _results().to_pandas(self)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        """Return what notebooks show: tables, and text for answers without tables."""
        bundle: dict[str, str] = _results().bundle(self)
        return bundle

    def __rich_console__(self, console: Any, options: Any) -> Iterator[Any]:
        """Yield what rich prints: the text, and tables in the colours of their meaning."""
        yield from _results().render_terminal(self)


def _results() -> Any:
    return upward.part("results")
