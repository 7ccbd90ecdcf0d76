"""Differences that stay, with the reason for each: the rows of ``decided.toml``.

A row says which differences it takes and has one program that shows it. Paddle's answers to those programs are recorded
(``decided.json``), so that a row whose difference is gone fails a test.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from pathlib import Path

from .comparing import Difference


@dataclass(frozen=True)
class Decision:
    """One reason. Every pattern must match; an empty one matches anything."""

    reason: str
    evidence: str
    example: str
    kind: str = ""
    function: str = ""
    theirs: str = ""
    ours: str = ""
    program: str = ""
    functions: tuple[str, ...] = ()
    """Functions that are blamed; all where there are none."""
    slopes: bool = False
    """Differences in float64 say that gradtool is right: a test takes them."""

    def takes(self, text: str, gap: Difference) -> bool:
        """Whether a difference is of this kind."""
        pairs = (
            (self.kind, gap.kind),
            (self.function, gap.function),
            (self.theirs, gap.theirs),
            (self.ours, gap.ours),
            (self.program, text),
        )
        if self.functions and gap.function not in self.functions:
            return False
        return all(not pattern or re.search(pattern, part, re.DOTALL) for pattern, part in pairs)


ROWS = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
DECISIONS = tuple(Decision(**row) for row in ROWS["decision"])


def reason_of(text: str, gap: Difference) -> str:
    """Why a difference stays; empty where nothing is decided."""
    return next((d.reason for d in DECISIONS if d.takes(text, gap)), "")


DIFFERING_MODES: tuple[tuple[str, str, str], ...] = (
    (r"unknown=", "refused", "a dimension that is not known before the program runs is asked for where it must be"),
    (r"shape\(", "values dtype", "the shape is int32 in a program, as in the text of Paddle 3.1.1's"),
    (r" / 0\b", "refused", "a division by the number 0 is refused where the program is built"),
)
"""Where static mode differs from dynamic mode on purpose: programs by a pattern, the kind of difference, the reason."""
