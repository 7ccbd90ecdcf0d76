"""Some rows of a file of arrays."""

from __future__ import annotations

from ..core.records import dataclass


@dataclass(frozen=True, slots=True)
class Portion:
    """Some of the data.

    Attributes:
        path: the file, as the user wrote it.
        rows: the numbers of the rows; a pair stands for those from the first up to the second. None for all of it.
    """

    path: str
    rows: tuple[int, int] | None = None

    @property
    def display(self) -> str:
        """``feeds/3.npz``, ``data.npz row 17``, ``data.npz rows 64–95``."""
        if self.rows is None:
            return self.path
        first, after = self.rows
        return f"{self.path} row {first}" if after == first + 1 else f"{self.path} rows {first}–{after - 1}"
