"""Parts of a plan: a range of instructions in one compiled function, or one that is computed between such."""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from functools import partial
from typing import Any, NoReturn

import jax
import jax.numpy as jnp
import numpy as np

from ...core import state
from ...core.errors import ExecutionError
from ...core.identity import identity
from ...core.rows import RowArray
from ...ops.opdef import Trait
from ...ops.refusals import collect_refusals
from . import assumptions
from .assumptions import Assumed
from .conditional import Conditional, expect_values, settle
from .flags import first, one_of
from .host_operators import WANTS_VALUES, NeedsValues, stop_reason
from .mesh import Mesh
from .packing import Packed
from .pytrees import LateRefusal, dense
from .scopes import scope
from .stacked_array import StackedArray
from .stacked_values import StackedFrames
from .streams import TracedStream, draw_from, operands

Seen = list[tuple[int, Any]]

CONSTANT = 1 << 16
"""Elements up to which what depends on constants alone is computed while tracing, and is a constant itself."""


UNSTACKED = "it reads what was left by a block that is not compiled"

tracing: ContextVar[bool] = ContextVar("gradtool_jax_tracing", default=False)
"""Whether this thread traces: plans of blocks are then traced, too."""


class ValuesNeeded(Exception):
    """Tracing has come to an instruction that wants values.

    Attributes:
        index: of the instruction.
        error: what it has raised.
    """

    def __init__(self, index: int, error: Exception) -> None:
        super().__init__(index)
        self.index = index
        self.error = error


class PlanPart(ABC):
    """A range of instructions of *plan*.

    Attributes:
        span: their indices.
        ins: the registers that they read and that others have written.
        outs: those that they write and others read.
        dead: the registers among *ins* that nobody reads any more.
    """

    def __init__(self, plan: Any, span: range, look: Any) -> None:
        self.plan = plan
        self.span = span
        self.look = look
        inside = [plan.instructions[n] for n in span]
        written = {r for i in inside for r in i.outs}
        later = {r for i in plan.instructions[span.stop :] for r in i.ins} | set(plan.results)
        self.ins = sorted({r for i in inside for r in i.ins} - written)
        self.outs = sorted(r for r in written & later if r >= 0)
        self.dead = [r for r in self.ins if r not in later]

    @abstractmethod
    def __call__(self, regs: list[Any]) -> Seen:
        """Carry them out."""


class HostedPart(PlanPart):
    """One instruction that is not compiled.

    Attributes:
        index: of the instruction.
        reason: why.
    """

    def __init__(self, plan: Any, index: int, reason: str, look: Any) -> None:
        super().__init__(plan, range(index, index + 1), look)
        self.index = index
        self.reason = reason

    def __call__(self, regs: list[Any]) -> Seen:
        instruction = self.plan.instructions[self.index]
        inputs = [regs[r] for r in instruction.ins]
        with np.errstate(all="ignore"):
            try:
                result = instruction.kernel(*inputs)
                outputs = tuple(result) if instruction.spread else (result,)
            except Exception as error:
                raise self.plan.explain_error(error, instruction, inputs) from error
        for r, value in zip(instruction.outs, outputs, strict=True):
            regs[r] = value
        seen = [] if self.look is None else [(self.index, self.look(instruction, inputs, outputs))]
        for r in self.dead:
            regs[r] = None
        return seen


class TracedPart(PlanPart):
    """Instructions in one compiled function.

    The registers of parameters that it updates, and that nobody reads afterwards, are given to XLA to be overwritten
    (*donated*), as long as nothing can fail behind it: what a scope holds must survive an error.
    """

    def __init__(self, plan: Any, span: range, look: Any, mesh: Mesh | None = None) -> None:
        super().__init__(plan, span, look)
        self.mesh = mesh
        self._names = {r: name for name, r in plan.stores.items()}
        stored = {plan.loads[name]: r for name, r in plan.stores.items() if name in plan.loads}
        self._is_last = span.stop == len(plan.instructions)
        self.donated = [r for r in self.dead if self._is_last and stored.get(r) in self.outs]
        self._stored = [self.outs.index(stored[r]) for r in self.donated]
        given = set(self.donated)
        self.others = [r for r in self.ins if r not in given]
        self.more: list[Any] = []
        """Operands of the compiled function behind the registers, for derived classes."""
        self._results = set(plan.results)
        self.draws = any(may_draw(plan.instructions[n].op) for n in span)
        readers = [(n, getattr(plan.instructions[n].kernel, "frames", ())) for n in span]
        read = [(plan.instructions[n].ins[place], n) for n, places in readers for place in places]
        self._frames = [(r, n) for r, n in read if r in self.ins]
        self._is_open = False  # whether what it gives has a form that NumPy does not know
        self._compile()

    def _compile(self) -> None:
        """Have the functions traced anew: what was traced is right for what was taken for granted.

        JAX remembers what it has traced by the function, so each is an object of its own.
        """
        self._donating = self._compile_part(donate_argnums=0)
        self._sparing = self._compile_part()
        self._refusing = jax.jit(partial(self._refusals))

    def _compile_part(self, **options: Any) -> Callable[..., Any]:
        """The part's function, which is compiled for each set of shapes."""
        return jax.jit(partial(self._trace), **options)

    def __call__(self, regs: list[Any]) -> Seen:
        for r, index in self._frames:
            if not isinstance(regs[r], StackedFrames | None):
                raise ValuesNeeded(index, NeedsValues(UNSTACKED))
        result = self._attempt(regs)
        while result is None:  # too little was taken for granted
            result = self._attempt(regs)
        outputs, seen = result
        if not self._is_last:  # else nothing is computed any more
            for r in self.dead:
                regs[r] = None
        for r, value in zip(self.outs, outputs, strict=True):
            regs[r] = value
        if self._is_open:
            for r in self._results.intersection(self.outs):
                regs[r] = settle(regs[r])
        return [] if seen is None else seen.unpack()

    def _attempt(self, regs: list[Any]) -> tuple[Sequence[Any], Any] | None:
        """Return the results of the function and of looking; None if more had to be taken for granted."""
        donated = [regs[r] for r in self.donated]
        others = [*[regs[r] for r in self.others], *self.more]
        for r in self.donated:
            regs[r] = None
        function = self._donating if _has_no_other_owner(donated) else self._sparing
        before = operands(state.random.position) if self.draws else None
        try:
            outputs, flags, assumed, seen, moved = function(donated, others, before)
        except ValuesNeeded:
            for r, value in zip(self.donated, donated, strict=True):
                regs[r] = value
            raise
        place = -1 if flags is None else first(flags)
        if place >= 0:
            donated = [outputs[place] for place in self._stored]  # what they were before
            for r, value in zip(self.donated, donated, strict=True):
                regs[r] = value
            if assumed is not None and not place:
                self._assume_more(assumed.unpack())
                return None
        if moved is not None:
            moved.tell(state.random)
        if place >= 0:
            self._refuse(donated, others, before)
        return outputs, seen

    def _assume_more(self, assumed: Sequence[Assumed]) -> None:
        """Take for granted what the run has shown to be needed.

        Raises:
            Untraceable: there is nothing more to take for granted.
        """
        for a in assumed:
            needed = int(np.asarray(a.needed))
            if needed > a.limit:
                try:
                    a.otherwise(needed)
                except NeedsValues as error:
                    raise ValuesNeeded(a.index, error) from error
        self._compile()

    def _refuse(self, *operands: Any) -> NoReturn:
        """Raise the first of what was refused.

        Which one it is, and the values that it is told with, are results of a function of their own, as each array
        that is returned and each reduction costs something, and they are read after an error alone.
        """
        told: list[LateRefusal] = self._refusing(*operands)
        refused = next((r for r in told if np.asarray(r.wrong).any()), None)
        if refused is None:
            raise ExecutionError(
                "a value was refused that the same operators give and accept when they are compiled once more: it lies "
                "at the very border of what they take",
                hint="the backend numpy says which operator that is",
            )
        raise self.plan.explain_error(refused.exception(), self.plan.instructions[refused.index], ()) from None

    def _refusals(self, donated: list[Any], others: list[Any], before: Any) -> list[LateRefusal]:
        """Return possible refusals, with the values that their messages need; the function that is compiled after an
        error.
        """
        refused: list[LateRefusal] = self._compute(donated, others, before)[0]
        return refused

    def _trace(self, donated: list[Any], others: list[Any], before: Any) -> Any:
        """The function that is compiled: values of registers to values of registers.

        Args:
            before: seed and counter of the stream of random numbers, if it may be drawn from.

        Returns:
            Values of registers; whether too little is taken for granted, where something is, and whether something is
            refused, where something may be; what is taken for granted; what was looked at; how far the stream of random
            numbers has come.
        """
        refused, assumed, seen, regs, stream = self._compute(donated, others, before)
        outputs = [self._hand_out(r, regs[r]) for r in self.outs]
        self._is_open |= any(isinstance(v, (Conditional, StackedArray)) for v in outputs)
        flags = None
        if refused or assumed:
            few = [assumptions.short(assumed)] if assumed else []
            flags = jnp.stack([*few, one_of([r.wrong for r in refused])])
            for place, value in zip(self._stored, donated, strict=True):  # what was given away has to stay what it was
                outputs[place] = jnp.where(flags.any(), value, outputs[place])
        # Packed, as each array that is returned costs something.
        told = Packed.pack(assumed) if assumed else None
        return outputs, flags, told, self.pack(seen) if seen else None, stream and stream.moved

    def _compute(self, donated: list[Any], others: list[Any], before: Any) -> tuple[Any, Any, Any, list[Any], Any]:
        """Trace the part; what :meth:`trace` gives, the registers, and the stream of random numbers."""
        regs: list[Any] = [None] * self.plan.size
        for r, value in zip(self.donated, donated, strict=True):
            regs[r] = value
        for r, value in zip(self.others, others, strict=True):
            regs[r] = value
        token = tracing.set(True)
        stream = TracedStream(*before) if before is not None else None
        try:
            with draw_from(stream):
                refused, assumed, seen = self.trace(regs)
        finally:
            tracing.reset(token)
        return refused, assumed, seen, regs, stream

    def trace(self, regs: list[Any]) -> tuple[list[LateRefusal], list[Assumed], Seen]:
        """Trace the instructions over *regs*."""
        return trace_span(self.plan, self.span, regs, self.look)

    def pack(self, seen: Seen) -> Any:
        """Return what was looked at as the function returns it; its method ``unpack`` reverses this."""
        return Packed.pack(seen)

    def _hand_out(self, register: int, value: Any) -> Any:
        """Return what leaves the function: of what leaves the plan, whole tables; on a mesh, where it belongs there."""
        if register not in self._results:
            return value
        if isinstance(value, RowArray):
            value = dense(value)
        if self.mesh is None or not isinstance(value, jax.Array):
            return value
        name = self._names.get(register)
        where = self.mesh.whole if name is None else self.mesh.parameter_sharding(name, value.shape)
        return jax.lax.with_sharding_constraint(value, where)


def _references(arrays: Sequence[Any]) -> int:
    """The most references that there are to one of *arrays*."""
    return max(map(sys.getrefcount, arrays), default=0)


def _has_no_other_owner(arrays: Sequence[Any]) -> bool:
    """Return whether nobody but a scope and the list holds the *arrays*: another thread may be running with them."""
    return _references(arrays) <= _ALONE


_scope = {"w": object()}
_ALONE = _references([_scope["w"]])
"""What :func:`_references` gives for what a scope and the list hold; interpreters count differently."""


def trace_span(
    plan: Any, span: range, regs: list[Any], look: Any = None
) -> tuple[list[LateRefusal], list[Assumed], Seen]:
    """Trace the instructions of *plan* in *span* over its registers.

    Returns:
        What may turn out to be wrong, what is taken for granted, and what *look* made of the instructions.

    Raises:
        Untraceable: an instruction wants values.
        GradtoolError: an instruction failed; told with its operator and line.
    """
    all_refused: list[LateRefusal] = []
    all_assumed: list[Assumed] = []
    seen: Seen = []
    for index in span:
        instruction = plan.instructions[index]
        inputs = [regs[r] for r in instruction.ins]
        named = scope(index, instruction.op)
        with (
            named,
            collect_refusals() as refusals,
            assumptions.collect_assumptions() as assumed,
            np.errstate(all="ignore"),
        ):
            try:
                result = _result(instruction, inputs)
                outputs = tuple(result) if instruction.spread else (result,)
            except WANTS_VALUES as error:
                raise ValuesNeeded(index, error) from error
            except ValuesNeeded as inner:  # in a block
                raise ValuesNeeded(index, NeedsValues(block_reason(instruction.kernel.plan, inner))) from inner
            except Exception as error:
                raise plan.explain_error(error, instruction, inputs) from error
        all_refused += [LateRefusal(r.wrong, r.values, r.error, index) for r in refusals]
        all_assumed += [a.select(index) for a in assumed]
        if look is not None:
            outputs = apart(outputs, inputs)
        for r, value in zip(instruction.outs, outputs, strict=True):
            regs[r] = value
        if look is not None:
            seen.append((index, look(instruction, inputs, outputs)))
    return all_refused, all_assumed, seen


def block_reason(plan: Any, stop: ValuesNeeded) -> str:
    """Why an operator is not compiled in whose block, that of *plan*, tracing has stopped."""
    op = plan.instructions[stop.index].op
    return f"in its block {op.type if op is not None else 'something'} is not compiled: {stop_reason(stop.error)}"


def apart(outputs: Sequence[Any], inputs: Sequence[Any] = ()) -> tuple[Any, ...]:
    """*outputs*, of which nothing is simplified together with what reads them.

    XLA makes x of log(exp(x)), and a·c/b of a/(b/c): what is looked at would not be what the operators give. Those that
    are *inputs* stay the same objects.
    """
    leaves, structure = jax.tree_util.tree_flatten(tuple(outputs))
    read = {identity(v) for v in inputs}
    new = [isinstance(v, jax.core.Tracer) and identity(v) not in read for v in leaves]
    traced = iter(jax.lax.optimization_barrier([v for v, is_new in zip(leaves, new, strict=True) if is_new]))
    rebuilt = [next(traced) if is_new else v for v, is_new in zip(leaves, new, strict=True)]
    given: tuple[Any, ...] = jax.tree_util.tree_unflatten(structure, rebuilt)
    return given


def _result(instruction: Any, inputs: Sequence[Any]) -> Any:
    """Return what an instruction gives while it is traced."""
    kernel = instruction.kernel
    traced = getattr(kernel, "trace_block", None)
    if traced is None:
        return kernel(*inputs)
    if kernel.reason:  # in a block
        raise NeedsValues(kernel.reason)
    if not kernel.op.op.holds_blocks:
        expect_values(kernel.op.op.type, inputs)
    if _is_constant(kernel.op, inputs):
        try:
            return kernel.reference(*inputs)
        except WANTS_VALUES:
            pass  # more than the shape is read after all
    known = any(isinstance(v, np.ndarray) for v in inputs)
    try:
        return traced(*inputs)
    except WANTS_VALUES:
        if not known:
            raise
        return traced(*[jnp.asarray(v) if isinstance(v, np.ndarray) else v for v in inputs])


def _is_constant(op: Any, inputs: Sequence[Any]) -> bool:
    """Return whether what *op* gives follows from constants or shapes, and is small."""
    if op.op.trait & Trait.RANDOM:
        return False
    if op.op.trait & Trait.LIKE:
        known = all(v is None or hasattr(v, "shape") for v in inputs)
    else:
        known = all(v is None or isinstance(v, np.ndarray) for v in inputs)
    return known and all(0 <= v.spec.count <= CONSTANT for v in op.output_variables())


def may_draw(op: Any) -> bool:
    """Return whether an operator, or one in its block, draws random numbers."""
    if op is None:
        return False
    return bool(op.op.trait & Trait.RANDOM) or any(may_draw(inner) for b in op.sub_blocks for inner in b.ops)
