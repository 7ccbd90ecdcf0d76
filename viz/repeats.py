"""Finding blocks of operators that follow each other and are built alike."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from gradtool.engine.view.graph import FORWARD, GraphView

from .mirror.lanes import distinct
from .mirror.picture_arrays import Ints

CANDIDATES: Final = 12
"""Lengths of blocks that are tried."""

INPUTS: Final = 8
"""Inputs of an operator whose origins are compared one by one; of more, the number."""

SMALLEST_PAIR: Final = 4
"""Operators of a block that is worth folding when there are just two."""

_NUMBER: Final = re.compile(r"\d+")

Repetition = tuple[int, int, int]
"""Position of the first operator, length of a block, how many there are."""


def repetitions(view: GraphView, ops: Sequence[int]) -> list[Repetition]:
    """Stretches of *ops*, which are positions of nodes, in which one block stands several times, one after another.

    Two operators are alike if they have the same type, block of the program and layer but for numbers, and read in the
    same slots from operators as far back, or from the very same operator, or from tensors that no operator made.
    Attributes may differ.
    """
    if len(ops) < 2:
        return []
    token, origins = _tokens(view, ops)
    repeats: list[Repetition] = []
    covered = np.zeros(len(ops), dtype=bool)
    for length in _lengths(token):
        for start, end in _alike(token, origins, length):
            for a, b in _free(covered, start, end):
                times = (b - a) // length
                if times > 2 or (times > 1 and length >= SMALLEST_PAIR):
                    a += _natural(origins, a, (b - a) % length, length)
                    repeats.append((a, length, times))
                    covered[a : a + length * times] = True
    return sorted(repeats)


def _tokens(view: GraphView, ops: Sequence[int]) -> tuple[Ints, Ints]:
    """A number for what each operator is, and how far back its inputs were made (0: by none of *ops*)."""
    slots, makers = _reads(view, ops)
    nodes = [view.nodes[i] for i in ops]
    numbers: dict[tuple[object, ...], int] = {}
    layer = {scope: _NUMBER.sub("*", scope) for scope in {n.scope for n in nodes}}
    token = [
        numbers.setdefault((n.type, n.block, n.part == FORWARD, n.mark, layer[n.scope], *inputs), len(numbers))
        for n, inputs in zip(nodes, slots, strict=True)
    ]
    return np.array(token, dtype=np.int64), _origins(makers)


def _reads(view: GraphView, ops: Sequence[int]) -> tuple[list[list[str]], list[list[int]]]:
    """The slots that each operator reads, and the positions of the operators that made what is there (-1: none)."""
    positions, edges = view.positions, view.edges
    at = np.full(len(view.nodes), -1)
    at[ops] = np.arange(len(ops))
    source, target = at[positions.source], at[positions.target]
    made_by = np.full(len(view.nodes), -1)
    made_by[positions.tensor[source >= 0]] = source[source >= 0]
    maker = np.where(source >= 0, source, made_by[positions.source])
    slots: list[list[str]] = [[] for _ in ops]
    makers: list[list[int]] = [[] for _ in ops]
    read = np.flatnonzero(target >= 0)
    for e, i, m in zip(read.tolist(), target[read].tolist(), maker[read].tolist(), strict=True):
        slots[i].append(edges[e].slot)
        makers[i].append(m)
    return slots, makers


def _origins(makers: Sequence[Sequence[int]]) -> Ints:
    """Return how far back the inputs of each operator were made, from the positions of the operators that made them.

    What is made from nothing (a mask, an index) is like a tensor that no operator made, wherever it was made.
    """
    origins = np.zeros((len(makers), INPUTS), dtype=np.int64)
    constant = [False] * len(makers)
    for i, sources in enumerate(makers):
        constant[i] = all(0 <= m < i and constant[m] for m in sources)
        for k, m in enumerate(sources[:INPUTS]):
            if 0 <= m < i and (constant[i] or not constant[m]):
                origins[i, k] = i - m
    return origins


def _lengths(token: Ints) -> list[int]:
    """Distances at which like stretches follow each other, those that would fold most away first."""
    count = len(token)
    votes: dict[int, int] = {}
    for size in (1, 4, 16, 64):
        if size > count:
            break
        words = token[: count - size + 1].copy()
        for k in range(1, size):
            words = (words * 1_000_003 + token[k : count - size + 1 + k]) & 0x7FFF_FFFF_FFFF
        order = np.argsort(words, kind="stable")
        same = words[order][1:] == words[order][:-1]
        gaps, number = _tally((order[1:] - order[:-1])[same])
        for gap, n in zip(gaps.tolist(), number.tolist(), strict=True):
            votes[gap] = max(votes.get(gap, 0), n)
    best = sorted(votes, key=lambda g: (-votes[g], g))[:CANDIDATES]
    scored = []
    for length in best:
        alike = token[length:] == token[:-length]
        edges = np.flatnonzero(np.diff(np.concatenate([[0], alike.astype(np.int8), [0]])))
        runs = edges[1::2] - edges[0::2]
        folded = int((runs // length * length)[runs >= length].sum())
        scored.append((-folded, length))
    return [length for folded, length in sorted(scored) if folded]


def _tally(values: Ints) -> tuple[Ints, Ints]:
    tokens, _, place = distinct(values)
    return tokens, np.bincount(place, minlength=len(tokens))


def _alike(token: Ints, origins: Ints, length: int) -> list[tuple[int, int]]:
    """Stretches in which every operator is like the one *length* before it; the first block included."""
    here, before = origins[length:], origins[:-length]
    same_distance = here == before
    same_operator = (here == before + length) & (before > 0)
    alike = (token[length:] == token[:-length]) & (same_distance | same_operator).all(axis=1)
    edges = np.flatnonzero(np.diff(np.concatenate([[0], alike.astype(np.int8), [0]])))
    return [(s, e + length) for s, e in zip(edges[0::2].tolist(), edges[1::2].tolist(), strict=True) if e - s >= length]


def _free(covered: NDArray[np.bool_], start: int, end: int) -> list[tuple[int, int]]:
    """The parts of a stretch that no other repetition has."""
    edges = np.flatnonzero(np.diff(np.concatenate([[1], covered[start:end].astype(np.int8), [1]])))
    return [(start + a, start + b) for a, b in zip(edges[0::2].tolist(), edges[1::2].tolist(), strict=True)]


def _natural(origins: Ints, start: int, slack: int, length: int) -> int:
    """Return how much later the first block should start: where the fewest values cross from one block to the next.

    Of places where as few cross, the last: what comes before a stretch differs from it in its inputs alone, so that the
    first block often is one of its kind already, whereas behind the last block something else follows.
    """
    if not slack:
        return 0
    best, fewest = 0, None
    window = origins[start : start + 2 * length + slack]
    reach = np.arange(len(window))[:, None] - window
    for shift in range(slack + 1):
        cut = shift + length
        inside = window[cut : cut + length]
        sources = reach[cut : cut + length][(inside > 0) & (reach[cut : cut + length] < cut)]
        crossing = len(distinct(sources)[0])
        if fewest is None or crossing <= fewest:
            best, fewest = shift, crossing
    return best
