"""Gradient rules, and rules as definitions write them.

A rule says what it reads of an operator (:class:`Read`), and computes over whatever values the reading works on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from ..core.errors import OperatorError

if TYPE_CHECKING:
    from .opdef import OpDef

Array = Any
"""A backend's array, a traced value or a spec: whatever the reading of a rule works on."""

Operand = Any
"""An :data:`Array`, a sequence of them for a list slot, or None for an absent one."""


if TYPE_CHECKING:
    Like = Any
    Late = Any
else:

    class Like:
        """Annotation of a rule's parameter whose shape and dtype are read but whose values are not.

        The executor need not keep the tensor's buffer alive for it.
        """

    class Late:
        """Annotation of an output's gradient that may be absent, for the last parameters of a rule.

        An output that exists for the sake of the gradient operator (the Softmax of a loss, the Mean of a
        normalisation) gets a gradient of its own in second order, when that operator is differentiated. The rule gets
        None where none arrives, and the gradient operator then does not list the slot.
        """


class Read(NamedTuple):
    """Something that a gradient rule takes: a forward input, a forward output, or an output's gradient."""

    kind: str
    """``in``, ``out`` or ``dout``."""
    place: int
    """The slot's position among the inputs or outputs."""
    like: bool = False
    late: bool = False


class Namespace(Protocol):
    """The ``k`` of a rule: every operator as a method, over whatever values the reading works on."""

    def __getattr__(self, name: str) -> Callable[..., Any]: ...


class GradientRule(Protocol):
    """Step from the gradients of an operator's outputs to those of its inputs."""

    expands: bool
    """Whether programs show it as ordinary operators (``scale`` for ``scale``) instead of a gradient operator."""
    takes_none: bool
    """Whether an output's gradient may be absent; otherwise zeros are filled in."""
    needs: Mapping[int, Callable[[Mapping[str, Any]], bool]]
    """For entries of ``reads`` that not every operator needs: whether one with these attributes does."""

    @property
    def reads(self) -> tuple[Read, ...]:
        """Operands that the rule takes."""
        ...

    @property
    def wrt(self) -> tuple[int, ...]:
        """Positions of the input slots that it gives gradients for."""
        ...

    def __call__(
        self,
        k: Namespace,
        args: Sequence[Operand],
        wanted: Sequence[Sequence[bool]],
        attrs: Mapping[str, Any],
    ) -> list[list[Array | None]]:
        """The gradients, one list per entry of ``wrt`` (of length one unless the slot holds a list).

        Args:
            args: one operand per entry of ``reads``.
            wanted: which gradients to compute, in the form of the result.
        """
        ...


def positional(fn: Callable[..., Any]) -> tuple[str, ...]:
    """Names of the positional parameters (without importing inspect, which start-up would pay for)."""
    code = fn.__code__
    return code.co_varnames[: code.co_argcount]


def attributes_of(fn: Callable[..., Any], attrs: Iterable[str]) -> tuple[str, ...]:
    """Names of the attributes that *fn* takes: its keyword-only parameters, or all of *attrs* for ``**attrs``."""
    code = fn.__code__
    if code.co_flags & VARKEYWORDS:
        return tuple(attrs)
    return code.co_varnames[code.co_argcount : code.co_argcount + code.co_kwonlyargcount]


VARKEYWORDS = 0x08
"""The flag of a function with ``**`` (``inspect.CO_VARKEYWORDS``)."""


class WrittenRule:
    """A gradient rule as written in a definition."""

    __slots__ = ("attrs", "expands", "fn", "many", "needs", "reads", "takes_none", "wrt")

    def __init__(
        self,
        op: OpDef,
        fn: Callable[..., Any],
        wrt: tuple[int, ...],
        expands: bool,
        needs: Mapping[str, Callable[[Mapping[str, Any]], bool]] | None = None,
    ) -> None:
        places: dict[str, tuple[str, int]] = {}
        for j, slot in enumerate(op.outputs):
            places["d" + slot.name.lower()] = ("dout", j)
            places[slot.name.lower()] = ("out", j)
        for i, name in enumerate(positional(op.kernel)[1:]):
            places[name] = ("in", i)
        reads: list[Read] = []
        names = positional(fn)[1:]
        for name in names:
            if name not in places:
                raise OperatorError(
                    f"{op.type}: the gradient rule takes '{name}', which is neither an input, an output nor an "
                    "output's gradient"
                )
            note = fn.__annotations__.get(name)
            read = Read(*places[name], like=note in (Like, "Like"), late=note in (Late, "Late"))
            if reads and reads[-1].late and not read.late:
                raise OperatorError(f"{op.type}: the gradient rule takes '{name}' after one that may be absent")
            reads.append(read)
        self.fn = fn
        self.reads = tuple(reads)
        self.wrt = wrt
        self.expands = expands
        self.takes_none = False
        needed_at: dict[int, Callable[[Mapping[str, Any]], bool]] = {}
        for name, needed in (needs or {}).items():
            needed_at[names.index(name)] = needed
        self.needs: Mapping[int, Callable[[Mapping[str, Any]], bool]] = needed_at
        self.attrs = attributes_of(fn, op.defaults)
        self.many = tuple(map(attrgetter("many"), map(op.inputs.__getitem__, wrt)))

    def __call__(
        self,
        k: Namespace,
        args: Sequence[Operand],
        wanted: Sequence[Sequence[bool]],
        attrs: Mapping[str, Any],
    ) -> list[list[Array | None]]:
        result = self.fn(k, *args, **{n: attrs[n] for n in self.attrs})
        entries = result if isinstance(result, tuple) else (result,)
        if len(entries) != len(self.wrt):
            raise OperatorError(f"the gradient rule gave {len(entries)} gradients for {len(self.wrt)} inputs")
        grads: list[list[Array | None]] = []
        for entry, many, mask in zip(entries, self.many, wanted, strict=True):
            if not any(mask):
                grads.append([None] * len(mask))
                continue
            value = entry() if callable(entry) else entry
            items = list(value) if many and value is not None else [value] * len(mask)
            grads.append([(v() if callable(v) else v) if w else None for v, w in zip(items, mask, strict=True)])
        return grads

    def flat(
        self, k: Namespace, args: Sequence[Operand], wanted: Sequence[bool], attrs: Mapping[str, Any]
    ) -> list[Array | None]:
        """The gradients where no slot holds a list: one entry per entry of ``wrt``."""
        result = self.fn(k, *args, **{n: attrs[n] for n in self.attrs}) if self.attrs else self.fn(k, *args)
        entries = result if isinstance(result, tuple) else (result,)
        if len(entries) != len(wanted):
            raise OperatorError(f"the gradient rule gave {len(entries)} gradients for {len(self.wrt)} inputs")
        return [(e() if callable(e) else e) if want else None for e, want in zip(entries, wanted, strict=True)]

    def bind(
        self, k: Namespace, wanted: Sequence[Sequence[bool]] | None, attrs: Mapping[str, Any]
    ) -> Callable[..., Any] | None:
        """The rule as a function of its operands alone, for the run loop; None where a slot holds a list."""
        if any(self.many) or wanted is None:
            return None
        fn = partial(self.fn, k, **{n: attrs[n] for n in self.attrs})
        if len(self.wrt) == 1:

            def one(*args: Operand) -> Any:
                gradient = fn(*args)
                return gradient() if callable(gradient) else gradient

            return one
        flags = tuple(mask[0] for mask in wanted)

        def several(*args: Operand) -> list[Any]:
            return [
                (entry() if callable(entry) else entry) if flag else None
                for entry, flag in zip(fn(*args), flags, strict=True)
            ]

        return several
