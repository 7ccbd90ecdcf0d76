"""Blocks that run several times, as one loop of XLA: forwards into buffers with a row a round, backwards over them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from .assumptions import assume, rounded
from .conditional import Conditional, alike, zeros
from .hosted import NeedsValues
from .rounds import Outcome, Round, arrays, recorded
from .stacked import StackedFrames

CHANGES = "what its rounds hand on changes its shape or its type"

FIRST_ROWS = 32
"""Rounds that a loop is expected to have at first, unless they take more than :data:`FIRST_BYTES`."""
FIRST_BYTES = 1 << 25


class Runs(NamedTuple):
    """What the runs of a block give.

    Attributes:
        state: the carried values after the last one.
        sums: what was added up.
        each: those of the arrays left for backward blocks that differ from run to run, with a row for each.
        count: how many there were; of a branch, whether it was taken.
        rows: for how many there is room; None of a branch.
    """

    state: Sequence[Any]
    sums: Sequence[Any]
    each: Sequence[Any]
    count: Any
    rows: int | None

    def frames(self, turn: Round, begins: tuple[Any, ...], ends: tuple[Any, ...]) -> StackedFrames:
        """What they left for backward blocks."""
        return StackedFrames(
            tuple(self.each), turn.same, self.count, self.rows, turn.nesting, turn.varies, begins, ends
        )


class Carried(NamedTuple):
    """What the loop hands from round to round."""

    number: Any
    state: tuple[Any, ...]
    sums: tuple[Any, ...]
    each: tuple[Any, ...]
    go: Any
    wrong: Any
    needed: tuple[Any, ...]
    counter: Any


def repeated(
    kernel: Any, turn: Round, go: Any, state: Sequence[Any], read: Sequence[StackedFrames], nothing: Sequence[Any]
) -> Runs:
    """The rounds of a loop: as long as its condition holds, or one for each row of the frames that it reads.

    Args:
        kernel: whose loop it is.
        go: whether there is a first round.
        state: the carried values before it.
        read: the frames.
        nothing: what is added to.
    """
    body = kernel.body
    backwards = body.backwards
    count = read[0].count if read else None

    def place(number: Any) -> Any:
        """The row of the round of that number."""
        return count - 1 - number if backwards and count is not None else number

    def once(state: Sequence[Any], number: Any, counter: Any) -> Outcome:
        entering = []
        for frames, reading in zip(read, body.readings, strict=True):
            values = frames.at(place(number))
            entering += [(r, values[p]) for r, p in reading.registers]
        outcome = turn(state, entering, counter)
        return outcome._replace(go=jnp.asarray(outcome.go if count is None else number + 1 < count))

    start = tuple(map(_steady, state))
    begin = jnp.asarray(0, "int64")
    run, shapes = recorded(once, start, begin, turn.counter)
    ends = tuple(v if c.end is not None else s for c, v, s in zip(body.carried, shapes.ends, start, strict=True))
    if not alike(start, ends) or not alike(tuple(nothing), shapes.sums):
        raise NeedsValues(CHANGES)
    rows = _rows(kernel, shapes.framed, read) if body.leaving is not None else None
    each = tuple(jnp.zeros((rows, *a.shape), a.dtype) for a in shapes.framed) if rows is not None else ()

    def step(c: Carried) -> Carried:
        outcome = run(c.state, c.number, c.counter)
        row = place(c.number)
        state = tuple(
            v if carry.end is not None else s for carry, v, s in zip(body.carried, outcome.ends, c.state, strict=True)
        )
        return Carried(
            number=c.number + 1,
            state=state,
            sums=jax.tree_util.tree_map(jnp.add, c.sums, outcome.sums),
            each=tuple(
                lax.dynamic_update_index_in_dim(a, v, row, 0) for a, v in zip(c.each, outcome.framed, strict=True)
            ),
            go=outcome.go,
            wrong=outcome.wrong,
            needed=tuple(map(jnp.maximum, c.needed, outcome.needed)),
            counter=outcome.counter,
        )

    def goes_on(c: Carried) -> Any:
        go = c.go
        for flag, _ in c.wrong:
            go = go & ~flag
        return go

    first = Carried(
        begin,
        start,
        tuple(nothing),
        each,
        jnp.asarray(go),
        zeros(shapes.wrong),
        zeros(shapes.needed),
        turn.counter,
    )
    last = lax.while_loop(goes_on, step, first)
    turn.conclude(Outcome(last.state, last.sums, (), None, last.wrong, last.needed, last.counter))
    if rows is not None and count is None:
        assume(last.number, rows, kernel.make_room)
    return Runs(last.state, last.sums, last.each, last.number if count is None else count, rows)


def _rows(kernel: Any, framed: Sequence[Any], read: Sequence[StackedFrames]) -> int:
    """For how many rounds there is room."""
    if read:
        rows = read[0].rows
        assert rows is not None
        return rows
    if kernel.rows is None:
        bytes_ = sum(a.size * a.dtype.itemsize for a in framed)
        kernel.rows = min(FIRST_ROWS, rounded(max(FIRST_BYTES // max(bytes_, 1), 1)))
    return int(kernel.rows)


def _steady(value: Any) -> Any:
    """What is handed on in a loop: arrays."""
    if value is None or isinstance(value, Conditional):
        raise NeedsValues("its rounds hand on what is no array")
    return arrays(value)
