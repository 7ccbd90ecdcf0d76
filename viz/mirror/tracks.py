"""The second half of the mirror layout: the way of every edge, through streets and alleys in which no box stands.

Between the lanes run *streets*, from top to bottom, between the rows *alleys*, from left to right. Street ``s`` is to
the left of lane ``s``, alley ``a`` above row ``a``. An edge takes the simplest way that is free:

=========  =============================================================================================
straight   down (or up) its lane, or along its row, where no other box stands between
alley      out of the bottom, through one alley, into the top
street     out of a side, along the row as far as it is empty, through one street, along the row to the other
around     as before, but with an alley between two streets
=========  =============================================================================================

Every edge has its own track in a street or alley, edges that carry one tensor from one place share theirs; short ways
get the inner tracks.
"""

from __future__ import annotations

from heapq import heappush, heapreplace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from gradtool.engine.core.records import dataclass

from .cells import Cells
from .lanes import count_in_groups, distinct, is_in
from .picture_arrays import Bools, Ints

DOWN: Final = 0
ALONG: Final = 1
ALLEY: Final = 2
STREET: Final = 3
AROUND: Final = 4

MOST_TRACKS: Final = 60
"""Tracks of a street or alley; beyond them edges lie on one another."""


@dataclass(frozen=True, slots=True)
class Ways:
    """Routes of edges. All arrays have one entry per edge; what an edge does not use is 0.

    Attributes:
        kind: :data:`DOWN` … :data:`AROUND`.
        street, other: the streets that it takes, the second for :data:`AROUND` only.
        alley: the alley that it takes.
        street_track, other_track, alley_track: its place in them.
        leaves, enters: where it meets its boxes: -1 at the left or top, 1 at the right or bottom.
        leaves_at, enters_at: how many ports from the middle of that side; parallel straight edges count in halves.
        streets, alleys: how many tracks each of them has.
    """

    kind: Ints
    street: Ints
    other: Ints
    alley: Ints
    street_track: Ints
    other_track: Ints
    alley_track: Ints
    leaves: Ints
    enters: Ints
    leaves_at: NDArray[np.float64]
    enters_at: NDArray[np.float64]
    streets: Ints
    alleys: Ints


def find_ways(cells: Cells, net: Ints, flows: Bools) -> Ways:
    """A way for every edge.

    Args:
        net: edges of the same number carry one tensor from one box, and may share tracks.
        flows: edges that follow the computation of their column; they leave at the bottom, or where it runs up, at
            the top.
    """
    a, b = cells.drawn.source, cells.drawn.target
    ra, rb, ca, cb = cells.row[a], cells.row[b], cells.lane[a], cells.lane[b]
    last = len(cells.lanes)
    left, right = _neighbours(cells.row, cells.lane, last)
    above, below = _neighbours(cells.lane, cells.row, int(cells.row.max(initial=0)) + 1)
    up = cells.up[cells.column[a]] if len(cells.up) else np.zeros(0, dtype=bool)

    kind = np.full(len(a), AROUND, dtype=np.int64)
    street, other, alley = (np.zeros(len(a), dtype=np.int64) for _ in range(3))

    lo = np.maximum(left[a] + 1, left[b] + 1)
    hi = np.minimum(right[a], right[b])
    one = lo <= hi
    wish = _choose_streets(cells, flows)
    kind[one] = STREET
    street[one] = np.clip(wish, lo, hi)[one]
    far = ~one
    rightwards = cb > ca
    street[far] = np.where(rightwards, right[a], left[a] + 1)[far]
    other[far] = np.where(rightwards, left[b] + 1, right[b])[far]
    alley[far] = np.where(rb < ra, ra, ra + 1)[far]

    onwards = np.where(up, ra > rb, rb > ra) & flows
    # Through the lane of the reader, if nothing stands in it between, or through that of the writer.
    free_b = onwards & np.where(up, below[b] >= ra, above[b] <= ra)
    free_a = onwards & np.where(up, above[a] <= rb, below[a] >= rb)
    bent = (free_a | free_b) & (ca != cb)
    kind[bent] = ALLEY
    alley[bent] = np.where(free_b, np.where(up, ra, ra + 1), np.where(up, rb + 1, rb))[bent]
    straight = onwards & (ca == cb) & np.where(up, above[a] == rb, below[a] == rb)
    kind[straight] = DOWN

    along = (ra == rb) & ((right[a] == cb) | (left[a] == cb)) & (ca != cb)
    along &= _first_of_both_ways(a, b, along)
    kind[along] = ALONG

    used = [(kind == STREET) | (kind == AROUND), kind == AROUND, (kind == ALLEY) | (kind == AROUND)]
    for values, where in zip((street, other, alley), used, strict=True):
        values[~where] = 0

    leaves, enters = _sides(kind, street, other, ca, cb, ra, rb)
    leaves_at, enters_at = _ports(kind, a, b, leaves, enters, net, ca, cb)
    tracks = _Tracks(kind, net, street, other, alley, ra, rb, ca, cb, last, int(cells.row.max(initial=-1)) + 2)
    return Ways(
        kind,
        street,
        other,
        alley,
        *tracks.of_edges,
        leaves,
        enters,
        leaves_at,
        enters_at,
        tracks.streets,
        tracks.alleys,
    )


def _neighbours(band: Ints, place: Ints, end: int) -> tuple[Ints, Ints]:
    """For each box the places of the boxes before and after it in its row or lane; -1 and *end* where there is none."""
    width = end + 1
    pairs, _, at = distinct(band * width + place)
    bands, places = pairs // width, pairs % width
    before, after = np.full(len(pairs), -1), np.full(len(pairs), end)
    same = bands[1:] == bands[:-1]
    before[1:][same] = places[:-1][same]
    after[:-1][same] = places[1:][same]
    return before[at], after[at]


def _choose_streets(cells: Cells, flows: Bools) -> Ints:
    """The street that an edge would like: past its own column on the outer side, else between the two columns."""
    a, b = cells.drawn.source, cells.drawn.target
    ca, cb = cells.lane[a], cells.lane[b]
    up = cells.up[cells.column[a]] if len(cells.up) else np.zeros(0, dtype=bool)
    inside = cells.column[a] == cells.column[b]
    outer = np.where(up, np.maximum(ca, cb) + 1, np.minimum(ca, cb))
    # Values that another column needs go down beside its lanes, where the boxes of a column stand side by side.
    first = np.searchsorted(cells.lanes, cells.column[b], side="left")
    beyond = np.searchsorted(cells.lanes, cells.column[b], side="right")
    return np.where(inside & (flows | (ca == cb)), outer, np.where(cb > ca, first, beyond))


def _first_of_both_ways(a: Ints, b: Ints, among: Bools) -> Bools:
    """Of two boxes with edges in both directions, those of the first direction."""
    size = int(max(a.max(initial=0), b.max(initial=0))) + 1
    way, back = a * size + b, b * size + a
    chosen = np.flatnonzero(among)
    if not len(chosen):
        return among
    opposite = is_in(way[chosen], np.sort(back[chosen]))
    firsts = np.zeros(len(a), dtype=bool)
    firsts[chosen] = ~opposite | (a[chosen] < b[chosen])
    return firsts


def _sides(kind: Ints, street: Ints, other: Ints, ca: Ints, cb: Ints, ra: Ints, rb: Ints) -> tuple[Ints, Ints]:
    vertical = (kind == DOWN) | (kind == ALLEY)
    second = np.where(kind == AROUND, other, street)
    leaves = np.where(vertical, np.sign(rb - ra), np.where(street > ca, 1, -1))
    enters = np.where(vertical, np.sign(ra - rb), np.where(second > cb, 1, -1))
    along = kind == ALONG
    return np.where(along, np.sign(cb - ca), leaves), np.where(along, np.sign(ca - cb), enters)


def _ports(
    kind: Ints, a: Ints, b: Ints, leaves: Ints, enters: Ints, net: Ints, ca: Ints, cb: Ints
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Straight edges meet in the middle; to one side of it others leave, to the other side they enter."""
    leaves_at, enters_at = np.zeros(len(kind)), np.zeros(len(kind))
    if not len(kind):
        return leaves_at, enters_at
    straight = (kind == DOWN) | (kind == ALONG)
    vertical = (kind == DOWN) | (kind == ALLEY)
    size = int(max(a.max(), b.max())) + 1
    place, count = count_in_groups(np.where(straight, a * size + b, -1 - np.arange(len(kind))))
    leaves_at[straight] = enters_at[straight] = ((place - (count - 1) / 2) * 0.75)[straight]

    side = (leaves + 1) + np.where(vertical, 1, 0)
    out = (a * 4 + side) * (int(net.max()) + 1) + net
    bent = np.flatnonzero(~straight)
    keys, first, inverse = distinct(out[bent])
    # What leaves where a straight edge of the same tensor does takes its port.
    shared, of, _ = distinct(out[straight])
    hits = is_in(keys, shared)
    port = np.zeros(len(keys))
    port[hits] = leaves_at[straight][of[np.searchsorted(shared, keys[hits])]]
    alone = ~hits
    port[alone] = count_in_groups(keys[alone] // (int(net.max()) + 1), first[alone])[0] + 1
    leaves_at[bent] = port[inverse]

    entry = b[bent] * 4 + (enters[bent] + 1) + np.where(vertical[bent], 1, 0)
    enters_at[bent] = -(count_in_groups(entry, -np.abs(ca - cb)[bent])[0] + 1.0)
    return leaves_at, enters_at


class _Tracks:
    """Tracks for the parts of edges in streets and alleys."""

    def __init__(
        self,
        kind: Ints,
        net: Ints,
        street: Ints,
        other: Ints,
        alley: Ints,
        ra: Ints,
        rb: Ints,
        ca: Ints,
        cb: Ints,
        lanes: int,
        alleys: int,
    ) -> None:
        one, around, bent = kind == STREET, kind == AROUND, kind == ALLEY
        # Places along a street: rows are odd, alleys even. Along an alley: lanes are odd, streets even.
        middle = 2 * alley
        start = 2 * ra + 1
        end = np.where(around, middle, 2 * rb + 1)
        first = np.flatnonzero(one | around)
        second = np.flatnonzero(around)
        channel = np.concatenate([street[first], other[second]])
        begin = np.concatenate([start[first], middle[second]])
        finish = np.concatenate([end[first], (2 * rb + 1)[second]])
        nets = np.concatenate([net[first] * 2, net[second] * 2 + 1])
        track, self.streets = _pack(channel, nets, np.minimum(begin, finish), np.maximum(begin, finish), lanes + 1)
        street_track, other_track = np.zeros(len(kind), dtype=np.int64), np.zeros(len(kind), dtype=np.int64)
        street_track[first], other_track[second] = track[: len(first)], track[len(first) :]
        flat = np.flatnonzero(around | bent)
        begin = np.where(around, 2 * street, 2 * ca + 1)[flat]
        finish = np.where(around, 2 * other, 2 * cb + 1)[flat]
        tracks, self.alleys = _pack(
            alley[flat], net[flat], np.minimum(begin, finish), np.maximum(begin, finish), max(alleys, 1)
        )
        alley_track = np.zeros(len(kind), dtype=np.int64)
        alley_track[flat] = tracks
        self.of_edges = (street_track, other_track, alley_track)


SHORT: Final = (4, 24)
"""Lengths up to which edges take the inner and the next tracks."""


def _pack(channel: Ints, net: Ints, start: Ints, end: Ints, channels: int) -> tuple[Ints, Ints]:
    """A track for each interval, and how many each channel has; intervals of a net in a channel are one."""
    used = np.zeros(channels, dtype=np.int64)
    if not len(channel):
        return channel, used
    keys, _, inverse = distinct(channel * (int(net.max()) + 1) + net)
    lo, hi = np.full(len(keys), np.iinfo(np.int64).max), np.full(len(keys), -1)
    np.minimum.at(lo, inverse, start)
    np.maximum.at(hi, inverse, end)
    channel_of = keys // (int(net.max()) + 1)
    length = np.searchsorted(SHORT, hi - lo)
    order = np.lexsort((hi, lo, length, channel_of))
    numbers = [0] * len(keys)
    before, base, count = (-1, -1), 0, 0
    free: list[tuple[int, int]] = []  # (where the track is free again, track)
    rows = zip(order.tolist(), *(v[order].tolist() for v in (channel_of, length, lo, hi)), strict=True)
    for i, c, size, begin, finish in rows:
        if (c, size) != before:
            base = base + count if c == before[0] else 0
            before, count, free = (c, size), 0, []
        if free and free[0][0] < begin:
            track = free[0][1]
            heapreplace(free, (finish, track))
        else:
            track = count
            count += 1
            heappush(free, (finish, track))
        numbers[i] = (base + track) % MOST_TRACKS
    tracks = np.array(numbers, dtype=np.int64)
    np.maximum.at(used, channel_of, tracks + 1)
    return tracks[inverse], used
