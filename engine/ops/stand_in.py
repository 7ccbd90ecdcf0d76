"""Operators of foreign programs that have no definition here: they can be drawn and differentiated, and not run.

A stand-in has the slots and attributes that the file lists. Its gradient operator is what Paddle makes by default: it
reads all inputs, all outputs and their gradients, and gives a gradient for every input. It is a stand-in, too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NoReturn

from ..core.errors import UnsupportedError
from . import compat
from .opdef import OpDef, Slot, Trait
from .rules import Array, Namespace, Operand, Read


class Absent:
    """The operators of one program that are not in gradtool: what runs into one of them names them all.

    Attributes:
        reasons: by operator, as people are told it, why it cannot run and where it stands; each once.
    """

    def __init__(self) -> None:
        self.reasons: dict[str, str] = {}

    def add(self, what: str, why: str) -> None:
        """Note an operator; the first place where it stands is the one that is told."""
        self.reasons.setdefault(what, why)

    def texts(self) -> list[str]:
        """A line for each."""
        return [f"{what} ({why})" if why else what for what, why in self.reasons.items()]

    def refuse(self) -> NoReturn:
        """Raise :class:`UnsupportedError`, which names all of them."""
        count = len(self.reasons)
        raise UnsupportedError(
            f"the program cannot run: gradtool does not have {count} of its operators: {'; '.join(self.texts())}.",
            hint="what needs no values is answered: graph, program, where, backward without --run",
        )


class StandIn(OpDef):
    """The definition of an operator that has none.

    Attributes:
        absent: all those of the program.
    """

    __slots__ = ("absent",)

    def __init__(
        self,
        type_: str,
        inputs: Iterable[str],
        outputs: Iterable[str],
        attrs: Mapping[str, Any],
        absent: Absent,
        forward: OpDef | None = None,
    ) -> None:
        def kernel(backend: Any, *operands: Operand, wanted: Any = None, **attrs: Any) -> NoReturn:
            absent.refuse()

        kernel.__doc__ = f"{type_} is an operator that gradtool does not have: it stands for what a file lists."
        super().__init__(
            type_,
            type_,
            tuple(Slot(name, True, True, True) for name in inputs),
            tuple(Slot(name, True, True, True) for name in outputs),
            kernel,
            defaults=attrs,
            trait=Trait.OPAQUE | Trait.RANDOM,
            forward=forward,
        )
        self.absent = absent
        self.rule = _StandInRule(self)

    @property
    def grad_op(self) -> OpDef:
        """The gradient operator: a stand-in as well."""
        if self._grad is None:
            outputs = [slot.name for slot in self.outputs]
            read = [*(slot.name for slot in self.inputs), *outputs, *(f"{name}@GRAD" for name in outputs)]
            given = [f"{slot.name}@GRAD" for slot in self.inputs]
            self._grad = StandIn(compat.grad_type(self.type), read, given, self.defaults, self.absent, self)
        return self._grad


class _StandInRule:
    """Everything is read, and every input has a gradient: so it is with operators of Paddle that say nothing else."""

    expands = False
    takes_none = True
    needs: Mapping[int, Callable[[Mapping[str, Any]], bool]] = MappingProxyType({})

    def __init__(self, op: StandIn) -> None:
        self._op = op
        ins, outs = range(len(op.inputs)), range(len(op.outputs))
        self.reads = (*(Read("in", i) for i in ins), *(Read("out", i) for i in outs), *(Read("dout", i) for i in outs))
        self.wrt = tuple(ins)

    def __call__(
        self,
        k: Namespace,
        args: Sequence[Operand],
        wanted: Sequence[Sequence[bool]],
        attrs: Mapping[str, Any],
    ) -> list[list[Array | None]]:
        self._op.absent.refuse()
