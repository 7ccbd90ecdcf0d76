"""Whether anything is wrong with what a plan's operators give, judged on the device while the plan is computed.

Element by element the verdicts about results of the same shape are or-ed, which XLA fuses with the operators. A
reduction for each result would be a kernel of its own that computes again whatever is fused with the result: for
hundreds of small operators that took minutes to compile.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import jax.extend.core
import jax.numpy as jnp
import numpy as np

from ...core.rows import RowArray
from ...core.summary import Summary, Told, Uneventful
from ...core.tensor_array import TensorArray
from .assumptions import Assumed
from .part import Seen, TracedPart, carried_out, may_draw
from .pytrees import Refused, dense

CHUNK = 64
"""Instructions that are judged together. What XLA takes to compile operators that it fuses grows faster than their
number, so chunks of operators that it would fuse without end are computations of their own."""

NARROW = {"float16": (5, 10), "bfloat16": (8, 7)}
"""Bits of exponent and mantissa of types that XLA may compute with more of them."""

_BREAKS = frozenset({"cholesky", "cond", "conv_general_dilated", "dot_general", "fft", "scan", "sort", "while"})
"""Primitives that XLA fuses with nothing; within a computation of its own it also has worse code for some."""


class JudgedPart(TracedPart):
    """A part that returns, for each of its chunks, whether something is wrong in it.

    Args:
        largest: the largest size of a number that is in order; None where all finite ones are.

    Attributes:
        chunks: ranges of instructions.
    """

    def __init__(self, plan: Any, span: range, largest: float | None) -> None:
        super().__init__(plan, span, None)
        self.largest = largest
        self.chunks = [range(n, min(n + CHUNK, span.stop)) for n in range(span.start, span.stop, CHUNK)]
        self._told: list[Told] = []
        self._summaries: dict[int, Summary | None] = {}
        self.more = [jnp.asarray(True)]
        self._true: Any = None
        """The same in the function that is traced: XLA does not know that it is true."""

    def _traced(self, donated: list[Any], others: list[Any], before: Any, version: int) -> Any:
        *others, self._true = others
        return super()._traced(donated, others, before, version)

    def trace(self, regs: list[Any]) -> tuple[list[Refused], list[Assumed], Seen]:
        """As in the base; in place of what is looked at, the verdicts about chunks, and what is told without any."""
        self._told, self._summaries = [], {r: summary(regs[r]) for r in self.ins}
        refused: list[Refused] = []
        seen: Seen = []
        for chunk in self.chunks:
            if len(self.chunks) == 1 or any(may_draw(self.plan.instructions[n].op) for n in chunk):
                more, wrong = self._judged(chunk, regs)
            else:
                more, wrong = self._apart(chunk, regs)
            refused += more
            seen.append((chunk.start, wrong))
        return refused, [], [*seen, (self.span.stop, Uneventful(self._told))]

    def _judged(self, chunk: range, regs: list[Any]) -> tuple[list[Refused], Any]:
        """Trace a chunk; what may be refused, and whether something is wrong."""
        verdicts: dict[tuple[int, ...], Any] = {}
        numbers = iter(chunk)

        def look(instruction: Any, inputs: Any, outputs: Any) -> None:
            self._note(next(numbers), instruction, outputs)
            for value in outputs if instruction.op is not None else ():
                if holds_numbers(value):
                    wrong = _wrong(value, self.largest)
                    before = verdicts.get(wrong.shape)
                    verdicts[wrong.shape] = wrong if before is None else before | wrong

        refused, _, _ = carried_out(self.plan, chunk, regs, look)
        return refused, jnp.stack([v.any() for v in verdicts.values()]).any() if verdicts else jnp.asarray(False)

    def _note(self, index: int, instruction: Any, outputs: Sequence[Any]) -> None:
        """Note what is told of an instruction in runs where nothing is wrong."""
        gave = tuple([summary(v) for v in outputs])
        self._summaries.update(zip(instruction.outs, gave, strict=True))
        if instruction.op is not None:
            self._told.append((index, instruction.op, tuple(map(self._summaries.get, instruction.ins)), gave))

    def _apart(self, chunk: range, regs: list[Any]) -> tuple[list[Refused], Any]:
        """The same as a computation of its own, where all of its operators would be fused."""
        inside = [self.plan.instructions[n] for n in chunk]
        written = {r for i in inside for r in i.outs if r >= 0}
        reads = sorted({r for i in inside for r in i.ins} - written)
        later = {r for i in self.plan.instructions[chunk.stop :] for r in i.ins} | set(self.plan.results)
        leaves, structure = jax.tree_util.tree_flatten([regs[r] for r in reads])
        places = [n for n, leaf in enumerate(leaves) if isinstance(leaf, jax.core.Tracer)]
        fixed: list[Any] = []
        shape: list[Any] = []

        def computed(*traced: Any) -> list[Any]:
            values = list(leaves)
            for n, value in zip(places, traced, strict=True):
                values[n] = value
            inner: list[Any] = [None] * self.plan.size
            for r, value in zip(reads, jax.tree_util.tree_unflatten(structure, values), strict=True):
                inner[r] = value
            refused, wrong = self._judged(chunk, inner)
            given, whole = jax.tree_util.tree_flatten(({r: inner[r] for r in sorted(written & later)}, refused, wrong))
            fixed[:] = [None if isinstance(v, jax.core.Tracer) else (v,) for v in given]
            shape[:] = [whole]
            return [v for v in given if isinstance(v, jax.core.Tracer)]

        operands = [leaves[n] for n in places]
        closed = jax.make_jaxpr(computed)(*operands)
        run = jax.extend.core.jaxpr_as_fun(closed)
        if _breaks(closed.jaxpr):
            results = run(*operands)
        else:
            results = jax.lax.cond(
                self._true, run, lambda *_: [jnp.zeros(v.shape, v.dtype) for v in closed.out_avals], *operands
            )
        rest = iter(results)
        given = [next(rest) if v is None else v[0] for v in fixed]
        values, refused, wrong = jax.tree_util.tree_unflatten(shape[0], given)
        for r, value in values.items():
            regs[r] = value
        return refused, wrong


def _breaks(jaxpr: Any) -> bool:
    """Whether there is something in it that is not fused."""
    for equation in jaxpr.eqns:
        if equation.primitive.name in _BREAKS or equation.primitive.name.startswith("ffi_call"):
            return True
        if any(_breaks(inner) for inner in jax.extend.core.jaxprs_in_params(equation.params)):
            return True
    return False


def summary(value: Any) -> Summary | None:
    """What is told of *value* where its numbers are of no interest; None for what is no array."""
    if not hasattr(value, "dtype") or isinstance(value, TensorArray):
        return None
    return Summary(tuple(value.shape), np.dtype(value.dtype))


def holds_numbers(value: Any) -> bool:
    """Whether *value* is an array of a type that can hold NaN."""
    kind = None if isinstance(value, TensorArray) else getattr(value, "dtype", None)
    return kind is not None and (np.dtype(kind).kind in "fc" or np.dtype(kind).name == "bfloat16")


def _wrong(value: Any, largest: float | None) -> Any:
    """Element by element, whether a number is not finite or too large."""
    array = jnp.asarray(dense(value) if isinstance(value, RowArray) else value)
    dtype = np.dtype(array.dtype)
    if dtype.name in NARROW:  # what it is in its own type, whatever precision XLA goes on with
        array = jax.lax.reduce_precision(array.astype("float32"), *NARROW[dtype.name])
    wrong = ~jnp.isfinite(array)
    if largest is None:
        return wrong
    return wrong | (jnp.abs(array).astype("float64") > largest)
