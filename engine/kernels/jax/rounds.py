"""One run of a block, as a function that is traced once and then used wherever the block runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.core import jaxpr_as_fun

from ...core.errors import GradtoolError
from ...core.identity import identity
from ...core.rows import RowArray
from ...ops.refusals import refuse
from . import block_observations, streams
from .assumptions import Assumed, assume
from .flags import any_of
from .host_operators import BLOCK, NeedsValues
from .packing import UnmovedArray, is_here
from .part import Seen, trace_span
from .pytrees import LateRefusal, dense


class Outcome(NamedTuple):
    """Results of one run.

    Attributes:
        ends: what it hands on.
        sums: what is added up over the runs.
        framed: those of the arrays that it leaves for backward blocks that differ from run to run.
        go: whether there is another run.
        wrong: what it refuses: flags and the values that the messages tell.
        needed: the numbers that it takes for granted.
        counter: how far the stream of random numbers is.
        seen: what was looked at.
    """

    ends: tuple[Any, ...]
    sums: tuple[Any, ...]
    framed: tuple[Any, ...]
    go: Any
    wrong: tuple[tuple[Any, tuple[Any, ...]], ...]
    needed: tuple[Any, ...]
    counter: Any
    seen: tuple[Any, ...] = ()


class BlockRound:
    """A run of the block of *runner*, an operator's, over its *arguments*.

    Attributes, once it has been traced:
        refused, assumed: what it may refuse, and takes for granted.
        draws: whether it draws random numbers.
        nesting, varies, same: of what it leaves for backward blocks; see ``stacked_values.py``.
    """

    def __init__(self, runner: Any, arguments: Sequence[Any]) -> None:
        self._runner = runner
        self._arguments = arguments
        self._stream = streams.current()
        self.refused: list[LateRefusal] = []
        self.assumed: list[Assumed] = []
        self.draws = False
        self.nesting: Any = None
        self.varies: tuple[bool, ...] = ()
        self.same: tuple[Any, ...] = ()
        self._look: Any = None
        self._seen_nesting: Any = None
        self._stays: list[bool] = []

    @property
    def counter(self) -> Any:
        """Position of the stream before the first run."""
        return jnp.uint64(0) if self._stream is None else self._stream.counter

    def __call__(self, state: Sequence[Any], entering: Iterable[tuple[int, Any]], counter: Any) -> Outcome:
        """Trace it.

        Args:
            state: what the run before has handed on.
            entering: registers and what is in them, of frames.
            counter: how far the stream is.
        """
        body = self._runner.body
        registers = self._runner.template(self._arguments)
        self._runner.begin(registers, state)
        for r, value in entering:
            registers[r] = value
        inside = None if self._stream is None else streams.TracedStream(self._stream.seed, counter)
        with streams.draw_from(inside):
            span, look = range(len(body.plan.instructions)), block_observations.factory()
            self._look = None if look is None else look(body)
            self.refused, self.assumed, seen = trace_span(body.plan, span, registers, self._look)
        self.draws = inside is not None and inside.has_moved
        return Outcome(
            ends=tuple(None if c.end is None else arrays(registers[c.end]) for c in body.carried),
            sums=tuple(arrays(_whole(registers[s.register])) for s in body.sums),
            framed=self._frame_arrays(registers),
            go=False if body.go_on is None else truth(registers[body.go_on]),
            wrong=tuple((any_of([r.wrong]), tuple(map(jnp.asarray, r.values))) for r in self.refused),
            needed=tuple(a.needed for a in self.assumed),
            counter=counter if inside is None else inside.counter,
            seen=self._list_seen(seen),
        )

    def _list_seen(self, seen: Seen) -> tuple[Any, ...]:
        """The arrays of what was looked at."""
        if self._look is None:
            return ()
        leaves, self._seen_nesting = jax.tree_util.tree_flatten(self._look.collect(seen), is_leaf=is_here)
        self._stays = [is_here(leaf) for leaf in leaves]
        return tuple([arrays(leaf.buffer if is_here(leaf) else leaf) for leaf in leaves])

    def tell(self, count: Any, each: Sequence[Any], is_loop: bool) -> None:
        """Hand on what was looked at.

        Args:
            count: how many runs there were; of a branch, whether it was taken.
            each: with a row for each run of a loop.
        """
        if self._look is not None:
            each = [UnmovedArray(a) if stays else a for a, stays in zip(each, self._stays, strict=True)]
            block_observations.tell(
                block_observations.Looked(count, each, self._runner.body, self._look, self._seen_nesting, is_loop)
            )

    def _frame_arrays(self, registers: Sequence[Any]) -> tuple[Any, ...]:
        """Return the values that backward blocks read and that differ from run to run; others are not copied for each
        run.
        """
        body = self._runner.body
        if body.leaving is None:
            return ()
        around = {identity(a) for a in jax.tree_util.tree_leaves(list(self._arguments))}
        leaves, self.nesting = jax.tree_util.tree_flatten([registers[r] for r in body.leaving.registers])
        self.varies = tuple(isinstance(leaf, jax.core.Tracer) and identity(leaf) not in around for leaf in leaves)
        self.same = tuple(leaf for leaf, varies in zip(leaves, self.varies, strict=True) if not varies)
        return tuple(arrays(leaf) for leaf, varies in zip(leaves, self.varies, strict=True) if varies)

    def conclude(self, outcome: Outcome) -> None:
        """Hand on what *outcome* refuses, takes for granted and has drawn to who traces the operator."""
        if self._stream is not None and self.draws:
            self._stream.counter = outcome.counter
        plan = self._runner.body.plan
        for kind, (flag, values) in zip(self.refused, outcome.wrong, strict=True):
            refuse(flag, _error_maker(plan, kind), *values)
        for assumed, needed in zip(self.assumed, outcome.needed, strict=True):
            assume(needed, assumed.limit, assumed.otherwise)


def trace_once(function: Callable[..., Any], *operands: Any) -> tuple[Callable[..., Any], Any]:
    """*function*, traced now and never again for operands like these; and what it gives, by shapes and types.

    Raises:
        NeedsValues: an operator in it fails, which is an error only if the block runs.
    """
    try:
        jaxpr, shapes = jax.make_jaxpr(function, return_shape=True)(*operands)
    except GradtoolError as error:
        raise NeedsValues(f"its block fails if it runs: {str(error).partition(chr(10))[0]}") from error
    flat, nesting = jaxpr_as_fun(jaxpr), jax.tree_util.tree_structure(shapes)

    def again(*operands: Any) -> Any:
        return jax.tree_util.tree_unflatten(nesting, flat(*jax.tree_util.tree_leaves(operands)))

    return again, shapes


def arrays(value: Any) -> Any:
    """*value* with JAX's arrays in it, of types that do not give way."""
    return jax.tree_util.tree_map(_array, value)


def truth(value: Any) -> Any:
    """Return the value of a condition: a bool where it is a constant, else an array without dimensions."""
    if not hasattr(value, "dtype") or np.size(value) != 1:
        raise NeedsValues(BLOCK)  # the runner says what is wrong
    if isinstance(value, (np.ndarray, np.generic)):
        return bool(value.reshape(()))
    return jnp.reshape(value, ()).astype(bool)


def _array(value: Any) -> Any:
    if isinstance(value, (jax.Array, np.ndarray, np.generic)):
        return jnp.asarray(value, value.dtype)
    if isinstance(value, (bool, int)):
        return jnp.asarray(value)
    raise NeedsValues("its rounds hand on what is no array")


def _whole(value: Any) -> Any:
    return dense(value) if isinstance(value, RowArray) else value


def _error_maker(plan: Any, kind: LateRefusal) -> Callable[..., Exception]:
    """Makes the error of what was refused, told with its operator in the block."""
    return lambda *values: plan.explain_error(kind.error(*values), plan.instructions[kind.index], ())
