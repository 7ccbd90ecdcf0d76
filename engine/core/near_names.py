"""Existing names close to one that does not exist, at a bounded cost for any file and model.

A program may hold a million names, a file names of any length. Names are compared by their ends, and in full only the
few that share most pairs of characters with the name asked for.
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import SequenceMatcher
from heapq import nlargest

LONGEST = 80
"""Of a longer name the middle is left out: when it is compared, and when a message names it."""

CANDIDATES = 5000
"""Of more names, those are looked at that begin as the name asked for does."""

COMPARED = 64
"""Names that are compared character by character."""


def find_near(name: str, names: Iterable[str], count: int = 3, likeness: float = 0.5) -> list[str]:
    """The *count* of *names* that look most like *name*, best first.

    Compares ignoring case as well, and counts a shared last part (``w_0``) as likeness.

    Args:
        likeness: from 0 to 1, how alike they have to be; with 0 there are always *count*, if *names* has as many.
    """
    candidates = list(dict.fromkeys(names))
    if len(candidates) > CANDIDATES:
        candidates = [k for k in candidates if k[:2] == name[:2]][:CANDIDATES]
    matcher = SequenceMatcher(None)
    matcher.set_seq2(_ends(name))
    scores = []
    for candidate in _likely(name, candidates):
        matcher.set_seq1(_ends(candidate))
        if min(matcher.real_quick_ratio(), matcher.quick_ratio()) >= likeness and matcher.ratio() >= likeness:
            scores.append((matcher.ratio(), candidate))
    closest = [candidate for _, candidate in nlargest(count, scores)]
    if len(closest) < count:
        lower = _ends(name).lower()
        parts = (k for k in candidates if k not in closest and _is_part(lower, _ends(k).lower()))
        closest += [k for k, _ in zip(parts, range(count - len(closest)), strict=False)]
    return closest


def likeness(one: str, other: str) -> float:
    """Return how alike two names are, ignoring case: from 0 to 1."""
    return SequenceMatcher(None, one.lower(), other.lower()).ratio()


def shorten(name: str, longest: int = LONGEST) -> str:
    """*name* as a message has it: its middle replaced by ``…`` when it is longer than *longest*."""
    if len(name) <= longest:
        return name
    head = (longest - 1) * 2 // 3
    return f"{name[:head]}…{name[-(longest - 1 - head) :]}"


def _likely(name: str, candidates: list[str]) -> list[str]:
    """The candidates that share most pairs of neighbouring characters with *name*."""
    if len(candidates) <= COMPARED:
        return candidates
    wanted = _pairs(name)

    def similarity(candidate: str) -> float:
        pairs = _pairs(candidate)
        return len(wanted & pairs) / (len(wanted) + len(pairs) or 1)

    return nlargest(COMPARED, candidates, key=similarity)


def _pairs(name: str) -> set[str]:
    text = _ends(name).lower()
    return {text[i : i + 2] for i in range(len(text) - 1)}


def _ends(name: str) -> str:
    return name if len(name) <= LONGEST else name[: LONGEST // 2] + name[-LONGEST // 2 :]


def _is_part(one: str, other: str) -> bool:
    return one in other or other in one
