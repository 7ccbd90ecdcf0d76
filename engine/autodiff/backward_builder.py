"""Parts of a backward part while it is built: nothing of it is in the program yet (``insertion.py``)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from typing import TYPE_CHECKING, Any

from ..core import names, source
from ..core.records import dataclass
from ..ir import roles
from ..ir.operator import Operands, Operator
from ..ir.program import Block
from ..ir.variable import Variable
from ..ops import registry
from ..ops.opdef import OpDef
from .values import BlockValues, Value, variable_of

if TYPE_CHECKING:
    from .differentiator import Differentiator
    from .duals import Injection


@dataclass(slots=True)
class EmissionState:
    """State that the backward parts of one call share, those of blocks inside others included.

    Attributes:
        number: how many backward calls the program has seen, this one included.
        context: what callbacks get: gradient name -> forward name; None without callbacks.
        blocks: new blocks, in the order of their numbers.
        injections: by the variable with a block's frames: blocks that compute gradients of what is in them
            (``duals.py``).
        frames: operators of the program that are to leave frames, which they did not need to do so far.
    """

    number: int
    context: dict[str, Any] | None = None
    blocks: list[Block] = field(default_factory=list)
    injections: dict[Variable, list[Injection]] = field(default_factory=dict)
    frames: dict[Operator, Variable] = field(default_factory=dict)

    def note(self, v: Variable) -> None:
        """Let callbacks know that the backward part has a gradient of *v*."""
        if self.context is not None:
            self.context.setdefault(names.grad(v.name), v.name)


class Emitted:
    """The operators of the backward part of one block.

    Attributes:
        ops: in order.
        inner: those that hold a block, with what builds it.
    """

    def __init__(self, target: Block) -> None:
        self.target = target
        self.ops: list[Operator] = []
        self.inner: dict[Operator, Differentiator] = {}

    def emit(
        self,
        op: OpDef,
        inputs: Operands,
        outputs: Operands,
        attrs: Mapping[str, Any],
        *,
        role: int = roles.BACKWARD,
        origin: Operator | None = None,
        like: Value | None = None,
        loc: source.Location | None = None,
    ) -> Operator:
        """Append an operator to what is being built.

        Args:
            origin: the forward operator that it belongs to.
            like: without an origin, the value whose operator's place and scope it gets.
            loc: the place, where neither says it.
        """
        maker = origin
        if maker is None and like is not None:
            maker = variable_of(like).op
        if loc is None or origin is not None:
            loc = maker.loc if maker is not None else source.NOWHERE
        scope = maker.marks.scope if maker is not None else "/"
        emitted = Operator(self.target, op, inputs, outputs, attrs, loc=loc, role=role, scope=scope, origin=origin)
        self.ops.append(emitted)
        return emitted


class Saves:
    """Forward operators that keep, for backward ones, what would be overwritten, and others that stand among them.

    Attributes:
        before: operators to insert before others, or at the end of their block (None).

    Args:
        block: the block that is differentiated.
        inside: whether it is the block of an operator.
        take: told the names that are used.
    """

    def __init__(self, block: Block, values: BlockValues, inside: bool, take: Callable[[str], None]) -> None:
        self.before: dict[Operator | None, list[Operator]] = {}
        self._block = block
        self._values = values
        self._inside = inside
        self._take = take
        self._saved: dict[tuple[Variable, int], Variable] = {}

    def insert(self, op: Operator, before: Operator | None) -> None:
        """Let *op* enter the program in front of another operator, or at the end of its block."""
        self.before.setdefault(before, []).append(op)

    def readable(self, value: Value) -> Variable:
        """Return a variable that holds the version *value* for backward operators: a copy, if it is overwritten."""
        if isinstance(value, Variable):
            return value
        v, version = value
        # Around a block's own variables, the plain name stands for the value at the beginning of a run.
        around = self._inside and v.block is not self._block
        if version == 0 if around else self._values.is_current(value):
            return v
        if value not in self._saved:
            self._saved[value] = self._copy(value)
        return self._saved[value]

    def _copy(self, value: tuple[Variable, int]) -> Variable:
        """The variable that has the version *value*; one that an earlier call has made, if there is one."""
        v, version = value
        writer = None if self._values.is_current(value) else self._values.next_writer(value)
        home = self._block if writer is None else writer.block
        name = names.old_version(v.name, version)
        there = home.vars.get(name)
        if there is not None:
            return there
        copy = Variable(home, name, v.spec, stop_gradient=v.stop_gradient, kind=v.kind)
        self._take(name)
        assign = registry.get_by_type("assign")
        near = writer or home.ops[-1]
        save = Operator(
            home,
            assign,
            (v,),
            (copy,),
            assign.attributes({}),
            loc=near.loc,
            role=roles.BACKWARD,  # it goes where the backward part is left out
            scope=near.scope,
        )
        self.insert(save, writer)
        return copy
