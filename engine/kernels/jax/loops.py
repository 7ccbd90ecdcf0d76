"""Blocks that run several times, as one loop of XLA: forwards into buffers with a row a round, backwards over them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import jax.numpy as jnp
from jax import lax

from .assumptions import assume
from .conditional import Conditional
from .host_operators import NeedsValues
from .nesting import alike, zeros
from .rounds import BlockRound, Outcome, arrays, trace_once
from .stacked_array import common, match_form
from .stacked_values import StackedFrames

CHANGES = "what its rounds hand on changes its shape or its type"
ROUNDS_TO_SETTLE = 4
"""How often a round is traced at most until arrays of tensors keep their form."""


class Runs(NamedTuple):
    """Results of the runs of a block.

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

    def frames(self, turn: BlockRound, begins: tuple[Any, ...], ends: tuple[Any, ...]) -> StackedFrames:
        """Return what the runs left for backward blocks."""
        return StackedFrames(
            tuple(self.each), turn.same, self.count, self.rows, turn.nesting, turn.varies, begins, ends
        )


class LoopCarry(NamedTuple):
    """Values that the loop hands from round to round."""

    number: Any
    state: tuple[Any, ...]
    sums: tuple[Any, ...]
    each: tuple[Any, ...]
    seen: tuple[Any, ...]
    go: Any
    wrong: Any
    needed: tuple[Any, ...]
    counter: Any


def repeat(
    kernel: Any, turn: BlockRound, go: Any, state: Sequence[Any], read: Sequence[StackedFrames], nothing: Sequence[Any]
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
            values = frames.values_of(place(number))
            entering += [(r, values[p]) for r, p in reading.registers]
        outcome = turn(state, entering, counter)
        return outcome._replace(go=jnp.asarray(outcome.go if count is None else number + 1 < count))

    start = tuple(map(_steady, state))
    begin = jnp.asarray(0, "int64")
    run, shapes, start = _settle(body, once, start, begin, turn.counter)
    forms = [common(a, b, CHANGES) for a, b in zip(nothing, shapes.sums, strict=True)]
    has_rows = body.leaving is not None or bool(shapes.seen)
    rows = _rows(kernel, (*shapes.framed, *shapes.seen), read) if has_rows else None
    each, seen = ([jnp.zeros((rows, *a.shape), a.dtype) for a in one] for one in (shapes.framed, shapes.seen))

    def step(c: LoopCarry) -> LoopCarry:
        outcome = run(c.state, c.number, c.counter)
        row = place(c.number)
        state = tuple(
            v if carry.end is not None else s for carry, v, s in zip(body.carried, outcome.ends, c.state, strict=True)
        )
        return LoopCarry(
            number=c.number + 1,
            state=state,
            sums=tuple(match_form(a + b, form) for a, b, form in zip(c.sums, outcome.sums, forms, strict=True)),
            each=_set_row(c.each, outcome.framed, row),
            seen=_set_row(c.seen, outcome.seen, row),
            go=outcome.go,
            wrong=outcome.wrong,
            needed=tuple(map(jnp.maximum, c.needed, outcome.needed)),
            counter=outcome.counter,
        )

    def goes_on(c: LoopCarry) -> Any:
        go = c.go
        for flag, _ in c.wrong:
            go = go & ~flag
        return go

    first = LoopCarry(
        begin,
        start,
        tuple(map(match_form, nothing, forms)),
        tuple(each),
        tuple(seen),
        jnp.asarray(go),
        zeros(shapes.wrong),
        zeros(shapes.needed),
        turn.counter,
    )
    last = lax.while_loop(goes_on, step, first)
    turn.conclude(Outcome(last.state, last.sums, (), None, last.wrong, last.needed, last.counter))
    if rows is not None and count is None:
        assume(last.number, rows, kernel.room.make)
    number = last.number if count is None else count
    turn.tell(number, last.seen, is_loop=True)
    return Runs(last.state, last.sums, last.each, number, rows)


def _set_row(buffers: Sequence[Any], values: Sequence[Any], row: Any) -> tuple[Any, ...]:
    """*buffers* with *values* in that row."""
    return tuple(lax.dynamic_update_index_in_dim(a, v, row, 0) for a, v in zip(buffers, values, strict=True))


def _rows(kernel: Any, framed: Sequence[Any], read: Sequence[StackedFrames]) -> int:
    """For how many rounds there is room."""
    if read:
        rows = read[0].rows
        assert rows is not None
        return rows
    return int(kernel.room.rows(sum(a.size * a.dtype.itemsize for a in framed)))


def _settle(body: Any, once: Any, start: tuple[Any, ...], number: Any, counter: Any) -> tuple[Any, Outcome, Any]:
    """One round that ends with values of the form that it begins with: the function, its shapes, and the beginning.

    An array of tensors is in the form of a buffer as soon as a round writes one at a computed place.
    """
    for _ in range(ROUNDS_TO_SETTLE):
        run, shapes = trace_once(once, start, number, counter)
        forms = tuple(
            s if c.end is None else common(s, v, CHANGES)
            for c, s, v in zip(body.carried, start, shapes.ends, strict=True)
        )
        before, start = start, tuple(map(match_form, start, forms))
        if alike(before, start):
            if not all(c.end is None or alike(s, v) for c, s, v in zip(body.carried, start, shapes.ends, strict=True)):
                break
            return run, shapes, start
    raise NeedsValues(CHANGES)


def _steady(value: Any) -> Any:
    """Return what is handed on in a loop: arrays."""
    if value is None or isinstance(value, Conditional):
        raise NeedsValues("its rounds hand on what is no array")
    return arrays(value)
