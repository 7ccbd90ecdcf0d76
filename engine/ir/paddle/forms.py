"""The forms in which Paddle itself writes programs: one table, by how files begin."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from .from_desc import DescribedProgram, from_desc, is_description
from .from_pir import from_pir, is_pir

START: Final = 64
"""Bytes of a file that tell its form."""

FORMS: Final[tuple[tuple[Callable[[bytes], bool], Callable[[bytes, str], DescribedProgram]], ...]] = (
    (is_description, from_desc),
    (is_pir, from_pir),
)
"""Whether a file that begins so has the form -> what reads it."""


def reader(start: bytes) -> Callable[[bytes, str], DescribedProgram] | None:
    """Return the reader of a Paddle program that begins so; None if it is none."""
    return next((read for begins, read in FORMS if begins(start)), None)
