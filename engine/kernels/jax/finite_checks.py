"""Judge what a plan's operators give, on the device and while the plan is computed.

Element by element the verdicts about results of the same shape are or-ed, which XLA fuses with the operators. A
reduction for each result would be a kernel of its own that computes again whatever is fused with the result: for
hundreds of small operators that took minutes to compile.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import jax.extend.core
import jax.numpy as jnp
import numpy as np

from ...core.rows import RowArray
from ...core.summary import ArraySummary
from ...core.tensor_array import TensorArray
from .assumptions import Assumed
from .block_observations import Lull, LullStory, Maybe, QuietRounds, set_look, take
from .conditional import Conditional, plain
from .flags import any_of
from .packing import Packed
from .part import Seen, TracedPart, may_draw, trace_span
from .pytrees import LateRefusal, dense

CHUNK = 64
"""Instructions that are judged together. What XLA takes to compile operators that it fuses grows faster than their
number, so chunks of operators that it would fuse without end are computations of their own."""

NARROW = {"float16": (5, 10), "bfloat16": (8, 7)}
"""Bits of exponent and mantissa of types that XLA may compute with more of them."""

_BREAKS = frozenset({"cholesky", "cond", "conv_general_dilated", "dot_general", "fft", "scan", "sort", "while"})
"""Primitives that XLA fuses with nothing; within a computation of its own it also has worse code for some."""


class JudgedPart(TracedPart):
    """A part that returns, for each of its chunks, whether something is wrong in it, blocks among it.

    Args:
        largest: the largest size of a number that is in order; None where all finite ones are.

    Attributes:
        chunks: ranges of instructions.
    """

    def __init__(self, plan: Any, span: range, largest: float | None) -> None:
        super().__init__(plan, span, None)
        self.largest = largest
        self.chunks = [range(n, min(n + CHUNK, span.stop)) for n in range(span.start, span.stop, CHUNK)]
        self._told: list[Any] = []
        self._summaries: dict[int, Any] = {}
        self._flags: list[Any] = []
        """See :attr:`Lull.flags`."""
        self.more = [jnp.asarray(True)]
        self._true: Any = None
        """The same in the function that is traced: XLA does not know that it is true."""

    def _compute(self, donated: list[Any], others: list[Any], before: Any) -> tuple[Any, Any, Any, list[Any], Any]:
        *others, self._true = others
        return super()._compute(donated, others, before)

    def trace(self, regs: list[Any]) -> tuple[list[LateRefusal], list[Assumed], Seen]:
        """As in the base; in place of what is looked at, the verdicts about chunks, and what is told without any."""
        self._told, self._summaries, self._flags = [], {r: ArraySummary.describe(regs[r]) for r in self.ins}, []
        refused: list[LateRefusal] = []
        assumed: list[Assumed] = []
        verdicts = []
        for chunk in self.chunks:
            if len(self.chunks) == 1 or any(may_draw(self.plan.instructions[n].op) for n in chunk):
                judged = self._judge_chunk(chunk, regs)
            else:
                judged = self._apart(chunk, regs)
            refused += judged.refused
            assumed += judged.assumed
            self._flags += judged.flags
            verdicts.append(judged.wrong)
        # One array for all chunks: what a run is told by is mostly that none of them holds.
        flags = Packed.pack(self._flags) if self._flags else None
        start = self.span.start
        return refused, assumed, [(start, Lull(jnp.stack(verdicts), flags, LullStory(self._told, start)))]

    def pack(self, seen: Seen) -> Lull:
        """As in the base: it is packed."""
        return seen[0][1]  # type: ignore[no-any-return]

    def _judge_chunk(self, chunk: range, regs: list[Any]) -> _Judged:
        """Trace a chunk."""
        tale = _Tale(self.largest, self._summaries, len(self._flags))
        numbers = iter(chunk)

        def look(instruction: Any, inputs: Any, outputs: Any) -> None:
            tale.note(next(numbers), instruction, inputs, outputs)

        with set_look(lambda body: _RoundTale(self.largest)):
            refused, assumed, _ = trace_span(self.plan, chunk, regs, look)
        self._told += tale.told
        return _Judged(refused, assumed, tale.wrong(), tale.flags)

    def _apart(self, chunk: range, regs: list[Any]) -> _Judged:
        """The same as a computation of its own, where all of its operators would be fused."""
        inside = [self.plan.instructions[n] for n in chunk]
        written = {r for i in inside for r in i.outs if r >= 0}
        reads = sorted({r for i in inside for r in i.ins} - written)
        later = {r for i in self.plan.instructions[chunk.stop :] for r in i.ins} | set(self.plan.results)
        leaves, structure = jax.tree_util.tree_flatten([regs[r] for r in reads])
        places = [n for n, leaf in enumerate(leaves) if isinstance(leaf, jax.core.Tracer)]
        fixed: list[Any] = []
        shape: list[Any] = []

        def compute(*traced: Any) -> list[Any]:
            values = list(leaves)
            for n, value in zip(places, traced, strict=True):
                values[n] = value
            inner: list[Any] = [None] * self.plan.size
            for r, value in zip(reads, jax.tree_util.tree_unflatten(structure, values), strict=True):
                inner[r] = value
            judged = tuple(self._judge_chunk(chunk, inner).reduce())
            given, whole = jax.tree_util.tree_flatten(({r: inner[r] for r in sorted(written & later)}, judged))
            fixed[:] = [None if isinstance(v, jax.core.Tracer) else (v,) for v in given]
            shape[:] = [whole]
            return [v for v in given if isinstance(v, jax.core.Tracer)]

        operands = [leaves[n] for n in places]
        closed = jax.make_jaxpr(compute)(*operands)
        run = jax.extend.core.jaxpr_as_fun(closed)
        if _breaks(closed.jaxpr):
            results = run(*operands)
        else:
            results = jax.lax.cond(
                self._true, run, lambda *_: [jnp.zeros(v.shape, v.dtype) for v in closed.out_avals], *operands
            )
        rest = iter(results)
        given = [next(rest) if v is None else v[0] for v in fixed]
        values, judged = jax.tree_util.tree_unflatten(shape[0], given)
        for r, value in values.items():
            regs[r] = value
        return _Judged(*judged)


class _Judged(NamedTuple):
    """Result of a chunk.

    Attributes:
        refused, assumed: what it may refuse, and takes for granted.
        wrong: whether something is wrong.
        flags: see :attr:`Lull.flags`.
    """

    refused: list[LateRefusal]
    assumed: list[Assumed]
    wrong: Any
    flags: list[Any]

    def reduce(self) -> _Judged:
        """The same with one flag for each of what it may refuse."""
        refused = [LateRefusal(any_of([r.wrong]), r.values, r.error, r.index) for r in self.refused]
        return self._replace(refused=refused)


class _Verdicts:
    """Flags for faulty results, element by element of those of the same shape."""

    def __init__(self, largest: float | None) -> None:
        self._largest = largest
        self._by_shape: dict[tuple[int, ...], Any] = {}

    def add(self, results: Sequence[Any]) -> None:
        """Judge the results of an operator."""
        for value in map(plain, results):
            if holds_numbers(value):
                wrong = _wrong(value, self._largest)
                before = self._by_shape.get(wrong.shape)
                self._by_shape[wrong.shape] = wrong if before is None else before | wrong

    def any(self) -> Any:
        """Return whether there is a fault."""
        return any_of(list(self._by_shape.values()))


class _Tale:
    """Report about operators in a row if nothing is wrong with them, and the flag that something is.

    Args:
        summaries: by register, what is known of its value.
        before: how many flags there are before its own.

    Attributes:
        told, flags: see :class:`Lull`.
    """

    def __init__(self, largest: float | None, summaries: dict[int, Any], before: int = 0) -> None:
        self.told: list[Any] = []
        self.flags: list[Any] = []
        self._before = before
        self._summaries = summaries
        self._verdicts = _Verdicts(largest)
        self._in_blocks: list[Any] = []

    def note(self, index: int, instruction: Any, inputs: Sequence[Any], outputs: Sequence[Any]) -> None:
        """Judge what an instruction gives, and what the runs of its block gave."""
        looked = take()
        if looked is not None:
            wrong, flags = looked.stack
            self._in_blocks.append(any_of([wrong]))
            self.told.append(QuietRounds(self._flag(looked.of(flags)), looked.look.told))
        known = self._summaries
        gave = tuple(map(self._show, outputs))
        read = tuple(
            [known.setdefault(r, ArraySummary.describe(plain(v))) for r, v in zip(instruction.ins, inputs, strict=True)]
        )
        known.update(zip(instruction.outs, gave, strict=True))
        if instruction.op is not None:
            self.told.append((index, instruction.op, read, gave))
            self._verdicts.add(outputs)

    def wrong(self) -> Any:
        """Return whether something is wrong."""
        verdict = self._verdicts.any()
        return jnp.stack([verdict, *self._in_blocks]).any() if self._in_blocks else verdict

    def _show(self, value: Any) -> Any:
        told = ArraySummary.describe(plain(value))
        return Maybe(self._flag(jnp.asarray(value.there)), told) if isinstance(value, Conditional) else told

    def _flag(self, flag: Any) -> int:
        """The number of another flag."""
        self.flags.append(flag)
        return self._before + len(self.flags) - 1


class _RoundTale(_Tale):
    """Report about a run of a block."""

    def __init__(self, largest: float | None) -> None:
        super().__init__(largest, {})
        self._numbers = itertools.count()

    def __call__(self, instruction: Any, inputs: Sequence[Any], outputs: Sequence[Any]) -> None:
        """As in the base, with the next number."""
        self.note(next(self._numbers), instruction, inputs, outputs)

    def collect(self, seen: Seen) -> Any:
        """Return whether something is wrong in it, and the flags."""
        return self.wrong(), self.flags


def _breaks(jaxpr: Any) -> bool:
    """Return whether there is something in it that is not fused."""
    for equation in jaxpr.eqns:
        if equation.primitive.name in _BREAKS or equation.primitive.name.startswith("ffi_call"):
            return True
        if any(_breaks(inner) for inner in jax.extend.core.jaxprs_in_params(equation.params)):
            return True
    return False


def holds_numbers(value: Any) -> bool:
    """Return whether *value* is an array of a type that can hold NaN."""
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
