"""Operators with a block on JAX: branches, loops and their gradients in the function that is being traced."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
from jax import lax

from ...core.tensor_array import TensorArray
from .assumptions import Room, assume
from .conditional import ABSENT, Conditional, plain, settle
from .host_operators import BLOCK, NeedsValues
from .loops import CHANGES, Runs, repeat
from .nesting import alike, zeros
from .rounds import BlockRound, Outcome, arrays, trace_once, truth
from .stacked_array import common, match_form
from .stacked_values import StackedFrames


class BlockKernel:
    """The kernel of an operator with a block.

    Args:
        op: the operator.
        runner: what runs its block (``executor/runner.py``).

    Attributes:
        reason: why it is not compiled; empty where it is.
        frames: which of its arguments are what the runs of other blocks have left.
        room: for how many rounds the buffers have room of a loop that leaves something for backward blocks.
    """

    def __init__(self, op: Any, runner: Any) -> None:
        self.op = op
        self._runner = runner
        self.reason = ""
        self.frames = tuple(r.argument for r in runner.body.readings)
        self.room = Room()

    @property
    def body(self) -> Any:
        """The description of its runs (``executor/body.py``)."""
        return self._runner.body

    @property
    def plan(self) -> Any:
        """Plan of one run of the block."""
        return self._runner.body.plan

    def __call__(self, *arguments: Any) -> Any:
        run = self._runner.backward if self.frames else self._runner.forward
        return run(*map(self._settle, arguments))

    def _settle(self, value: Any) -> Any:
        if isinstance(value, StackedFrames):
            return self._runner.frames(value.runs(), value.begins, value.ends)
        return settle(value)

    def reference(self, *arguments: Any) -> Any:
        """A block is traced, also over constants."""
        raise NeedsValues(BLOCK)

    def trace_block(self, *arguments: Any) -> list[Any]:
        """Return the results of the operator, in the function that is being traced.

        Raises:
            NeedsValues: the block cannot be compiled.
        """
        body = self._runner.body
        read = [arguments[place] for place in self.frames]
        if not all(isinstance(frames, StackedFrames) for frames in read):
            raise NeedsValues(BLOCK)
        there = [plain(a) for a in arguments]
        state = [self._runner.first(c, read, arguments) for c in body.carried]
        begins = self._runner.begins(read, there)
        # How often it runs.
        once = body.go_on is None
        go: Any = True
        if read:
            once = read[0].rows is None
            go = read[0].count if once else read[0].count > 0
        elif body.condition is not None:
            go = truth(arguments[body.condition])
        self._expect_there([*(arguments[i] for _, i in body.fixed), *state], go)
        # The runs.
        turn = BlockRound(self._runner, there)
        nothing = [arrays(self._runner.zeros(s.shape, read, there)) for s in body.sums]
        if once:
            runs = self._branch(turn, go, state, read, nothing)
        else:
            runs = repeat(self, turn, go, [plain(v) for v in state], read, nothing)
            runs = runs._replace(state=[_select_value(v, s, go) for v, s in zip(runs.state, state, strict=True)])
        frames = None
        if body.leaving is not None:
            ends = tuple(self._runner.ends([plain(v) for v in runs.state]))
            frames = runs.frames(turn, tuple(begins), ends)
        sums = [self._likewise(v, s.shape, arguments) for v, s in zip(runs.sums, body.sums, strict=True)]
        return list(self._runner.results(list(runs.state), sums, frames))

    @staticmethod
    def _expect_there(values: Sequence[Any], go: Any) -> None:
        """Take for granted that what the block reads is there if it runs."""

        def refuse(_: int) -> None:
            raise NeedsValues(ABSENT)

        for value in values:
            if isinstance(value, Conditional):
                assume(jnp.asarray(go).astype(bool) & ~jnp.asarray(value.there), 0, refuse)

    def _branch(
        self, turn: BlockRound, go: Any, state: Sequence[Any], read: Sequence[StackedFrames], nothing: Sequence[Any]
    ) -> Runs:
        """A block that runs once, or not at all."""
        body = self._runner.body
        start = [plain(v) for v in state]
        entering = [
            (r, v)
            for frames, reading in zip(read, body.readings, strict=True)
            for r, v in _read_frames(frames, reading)
        ]
        if isinstance(go, bool) and go:  # what is a constant stays one
            outcome = turn(start, entering, turn.counter)
            turn.conclude(outcome)
            turn.tell(True, outcome.seen, is_loop=False)
            return Runs(self._ends(outcome, state, True), outcome.sums, outcome.framed, True, None)
        run, shapes = trace_once(lambda counter: turn(start, entering, counter), turn.counter)
        forms = self._forms(shapes, start)
        sums = tuple(self._empty_sum(a, b) for a, b in zip(shapes.sums, nothing, strict=True))

        def skip(counter: Any) -> Outcome:
            ends = [
                zeros(form) if form is None or v is None else match_form(v, form)
                for v, form in zip(start, forms, strict=True)
            ]
            return zeros(shapes)._replace(ends=tuple(map(arrays, ends)), sums=sums, counter=counter)  # type: ignore[no-any-return]

        def take(counter: Any) -> Outcome:
            outcome: Outcome = run(counter)
            return outcome._replace(ends=tuple(map(match_form, outcome.ends, forms)))

        outcome = lax.cond(jnp.asarray(go), take, skip, turn.counter)
        turn.conclude(outcome)
        turn.tell(go, outcome.seen, is_loop=False)
        return Runs(self._ends(outcome, state, go), outcome.sums, outcome.framed, go, None)

    def _forms(self, shapes: Outcome, start: Sequence[Any]) -> list[Any]:
        """The forms of the carried values, which are the same whether the block runs or not."""
        forms: list[Any] = []
        for c, value, end in zip(self._runner.body.carried, start, shapes.ends, strict=True):
            forms.append(end if value is None or c.end is None else common(arrays(value), end, CHANGES))
        return forms

    def _ends(self, outcome: Outcome, state: Sequence[Any], go: Any) -> list[Any]:
        """The carried values after it: those that nothing was before are there only if it has run."""
        values: list[Any] = []
        for c, value, end in zip(self._runner.body.carried, state, outcome.ends, strict=True):
            if c.end is None:
                values.append(None)
            elif isinstance(end, Conditional) or (go is True):
                values.append(end)
            elif value is None:
                values.append(Conditional(end, go))
            else:
                values.append(_select_value(end, value, go))
        return values

    @staticmethod
    def _empty_sum(shape: Any, nothing: Any) -> Any:
        """The sum of no runs. In the gradient of an array of tensors zeros are as good as nothing."""
        if isinstance(nothing, TensorArray):
            return zeros(shape)
        if not alike(shape, nothing):
            raise NeedsValues("what its runs add up is not of the shape and type that it is declared of")
        return nothing

    @staticmethod
    def _likewise(value: Any, at: Any, arguments: Sequence[Any]) -> Any:
        """A sum that is there only if that of which it has the shape is."""
        like = arguments[at.place] if at.frames is None else None
        return Conditional(value, like.there) if isinstance(like, Conditional) else value


def _read_frames(frames: StackedFrames, reading: Any, number: Any = 0) -> list[tuple[int, Any]]:
    values = frames.values_of(number)
    return [(r, values[place]) for r, place in reading.registers]


def _select_value(value: Any, before: Any, go: Any) -> Any:
    """Return the value after the runs, given the value before and whether there were any runs."""
    return Conditional(value, jnp.asarray(before.there) | go) if isinstance(before, Conditional) else value
