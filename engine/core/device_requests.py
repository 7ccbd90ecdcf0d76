"""Requests of a script about several devices, while one process computes: gradients that it exchanges, and so on.

Answers about replicas read it, and nothing is computed from it. It is written down where somebody is going to ask.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import field
from typing import Any

from .records import dataclass


@dataclass
class Requests:
    """Requests that were made inside :meth:`record`.

    Attributes:
        noting: whether somebody is going to ask.
        exchanged: names of parameters whose gradients are averaged over the devices.
        reduced: arrays that are summed or averaged by hand, as they are then.
        synchronised: names of scales of batch normalisations that take the statistics of all devices.
        seed: the last seed of the random numbers; None where the script gives none.
        by_rank: whether the script has asked for its number, so that a seed may follow from it.
    """

    noting: bool = False
    exchanged: set[str] = field(default_factory=set)
    reduced: list[Any] = field(default_factory=list)
    synchronised: set[str] = field(default_factory=set)
    seed: int | None = None
    by_rank: bool = False

    @contextmanager
    def record(self) -> Iterator[None]:
        """Inside, what a script says is written down; before and after, nothing of it is there."""
        self._forget()
        self.noting = True
        try:
            yield
        finally:
            self.noting = False
            self._forget()

    def _forget(self) -> None:
        self.exchanged.clear()
        self.reduced.clear()
        self.synchronised.clear()
        self.seed, self.by_rank = None, False

    @property
    def has_shared_seed(self) -> bool:
        """True if all devices draw from the same seed."""
        return self.seed is not None and not self.by_rank


asked = Requests()
