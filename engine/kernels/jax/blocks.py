"""Operators with a block on JAX: loops whose values keep their shapes are compiled, all else runs as values say."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from ...ops.refusals import refuse
from . import streams
from .hosted import BLOCK, NeedsValues
from .part import carried_out
from .pytrees import Refused

CHANGES = "what its rounds hand on changes its shape or its type"


class BlockKernel:
    """The kernel of an operator with a block.

    Args:
        op: the operator.
        runner: what runs its block (``executor/runner.py``).

    Attributes:
        reason: why it is not compiled; empty where it is.
    """

    def __init__(self, op: Any, runner: Any) -> None:
        self.op = op
        self._runner = runner
        self._run = runner.backward if runner.body.readings else runner.forward
        self.reason = "" if _is_plain_loop(runner.body) else BLOCK

    def __call__(self, *arguments: Any) -> Any:
        return self._run(*arguments)

    def reference(self, *arguments: Any) -> Any:
        """A loop is traced, also over constants."""
        raise NeedsValues(BLOCK)

    def traced(self, *arguments: Any) -> list[Any]:
        """The loop, in the function that is being traced.

        Raises:
            NeedsValues: what it carries does not keep its shape and type.
        """
        body = self._runner.body
        state = tuple(_array(arguments[c.before]) for c in body.carried)
        go = _truth(arguments[body.condition])
        stream = streams.current()
        before = jnp.uint64(0) if stream is None else stream.counter
        kinds: list[Refused] = []
        draws: list[bool] = []

        def step(state: Sequence[Any], counter: Any) -> tuple[Any, ...]:
            """One round: what it hands on, whether there is another, what is refused, and how far the stream is."""
            registers = self._runner.template(arguments)
            self._runner.begin(registers, state)
            inside = None if stream is None else streams.Traced(stream.seed, counter)
            with streams.drawing(inside):
                refused, _ = carried_out(body.plan, range(len(body.plan.instructions)), registers)
            kinds[:] = refused
            draws[:] = [inside is not None and inside.has_moved]
            ends = tuple(_array(registers[c.end]) for c in body.carried)
            wrong = tuple((jnp.asarray(r.wrong), tuple(map(jnp.asarray, r.values))) for r in refused)
            return ends, _truth(registers[body.go_on]), wrong, counter if inside is None else inside.counter

        shapes = jax.eval_shape(step, state, before)
        if [(a.shape, a.dtype) for a in shapes[0]] != [(a.shape, a.dtype) for a in state]:
            raise NeedsValues(CHANGES)
        nothing = jax.tree_util.tree_map(lambda a: jnp.zeros(a.shape, a.dtype), shapes[2])

        def goes_on(carried: Any) -> Any:
            _, go, wrong, _ = carried
            for flag, _ in wrong:
                go = go & ~flag
            return go

        state, _, wrong, counter = lax.while_loop(goes_on, lambda c: step(c[0], c[3]), (state, go, nothing, before))
        if stream is not None and draws == [True]:
            stream.counter = counter
        for kind, (flag, values) in zip(kinds, wrong, strict=True):
            refuse(flag, _told(body.plan, kind), *values)
        return list(self._runner.results(list(state)))


def _told(plan: Any, kind: Refused) -> Callable[..., Exception]:
    """Makes the error of what was refused, told with its operator in the block."""
    return lambda *values: plan.explained(kind.error(*values), plan.instructions[kind.index], ())


def _is_plain_loop(body: Any) -> bool:
    """Whether it is a loop that leaves nothing for a backward block, and begins with all that it hands on."""
    return (
        body.leaving is None
        and not body.readings
        and None not in (body.condition, body.go_on)
        and all(c.before is not None and c.end is not None for c in body.carried)
    )


def _array(value: Any) -> Any:
    if not isinstance(value, (jax.Array, np.ndarray, np.generic)):
        raise NeedsValues("its rounds hand on what is no array")
    return jnp.asarray(value, value.dtype)


def _truth(value: Any) -> Any:
    if jnp.size(value) != 1:
        raise NeedsValues(BLOCK)  # the runner says what is wrong
    return jnp.reshape(jnp.asarray(value), ()).astype(bool)
