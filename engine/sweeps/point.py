"""A point of a sweep: which model, at which settings and seed, on which data; and the key of its answer."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from ..core.records import dataclass
from ..data.row_subset import Portion


@dataclass(frozen=True, slots=True)
class Point:
    """Point of a sweep.

    Attributes:
        model: as the user wrote it.
        settings: names and values, as ``--arg`` takes them.
        chosen: rows that stand for the data in place of all of its portion; they may come several times.
    """

    model: str
    seed: int
    settings: tuple[tuple[str, str], ...] = ()
    portion: Portion | None = None
    chosen: tuple[int, ...] | None = None

    def data(self) -> dict[str, Any]:
        """Return the columns that describe it, in JSON's types."""
        portion = self.portion
        return {
            "model": self.model,
            "seed": self.seed,
            "set": dict(self.settings),
            "feed": None if portion is None else portion.path,
            "rows": None if portion is None or portion.rows is None else list(portion.rows),
        }

    def job(self) -> dict[str, Any]:
        """All that carries it to another process."""
        return {**self.data(), "set": list(self.settings), "chosen": self.chosen}

    @classmethod
    def read(cls, job: Mapping[str, Any]) -> Point:
        """Read a point from what :meth:`job` returned."""
        rows, chosen = job["rows"], job["chosen"]
        portion = None if job["feed"] is None else Portion(job["feed"], None if rows is None else (rows[0], rows[1]))
        settings = tuple((name, value) for name, value in job["set"])
        return cls(job["model"], job["seed"], settings, portion, None if chosen is None else tuple(chosen))


def key(*content: Any) -> str:
    """Sixteen digits that are the same for the same content, in JSON's types."""
    text = json.dumps(content, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:16]
