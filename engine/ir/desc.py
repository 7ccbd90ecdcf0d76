"""Descriptions of the block and of the operator just added, for callbacks of ``append_backward``.

Both are views. While the backward part is being built, ``block.ops`` still shows the forward part only and
``block.desc`` shows the new operators as well, as in Paddle.
"""

from __future__ import annotations

from typing import Any

from ..core import source
from ..core.errors import OperatorError
from .build import check_op
from .operator import Operator
from .program import Block
from .variable import Variable


class OpDesc:
    """Description of one operator."""

    __slots__ = ("_op",)

    def __init__(self, op: Operator) -> None:
        self._op = op

    def type(self) -> str:
        return self._op.type

    def input(self, slot: str) -> list[str]:
        return self._op.input(slot)

    def output(self, slot: str) -> list[str]:
        return self._op.output(slot)

    def input_names(self) -> list[str]:
        return self._op.input_names

    def output_names(self) -> list[str]:
        return self._op.output_names

    def input_arg_names(self) -> list[str]:
        return self._op.input_arg_names

    def output_arg_names(self) -> list[str]:
        return self._op.output_arg_names

    def attr_names(self) -> list[str]:
        return self._op.attr_names

    def has_attr(self, name: str) -> bool:
        return self._op.has_attr(name)

    def attr(self, name: str) -> Any:
        return self._op.attr(name)

    def _set_attr(self, name: str, value: Any) -> None:
        self._op._set_attr(name, value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, OpDesc) and other._op is self._op

    def __hash__(self) -> int:
        return hash(self._op)

    def __repr__(self) -> str:
        return f"OpDesc({self._op.summary()})"


class NewOpDesc:
    """An operator description that a callback fills in; it becomes an operator when the call is complete."""

    def __init__(self, block: Block) -> None:
        self._block = block
        self._type: str | None = None
        self._inputs: dict[str, list[str]] = {}
        self._outputs: dict[str, list[str]] = {}
        self._attrs: dict[str, Any] = {}
        self.loc = source.here()

    def set_type(self, type_: str) -> None:
        self._type = type_

    def type(self) -> str:
        return self._type or ""

    def set_input(self, slot: str, arguments: list[str]) -> None:
        self._inputs[slot] = list(arguments)

    def set_output(self, slot: str, arguments: list[str]) -> None:
        self._outputs[slot] = list(arguments)

    def input(self, slot: str) -> list[str]:
        return self._inputs.get(slot, [])

    def output(self, slot: str) -> list[str]:
        return self._outputs.get(slot, [])

    def input_arg_names(self) -> list[str]:
        return [n for s in sorted(self._inputs) for n in self._inputs[s]]

    def output_arg_names(self) -> list[str]:
        return [n for s in sorted(self._outputs) for n in self._outputs[s]]

    def _set_attr(self, name: str, value: Any) -> None:
        self._attrs[name] = value

    set_attr = _set_attr

    def attr(self, name: str) -> Any:
        return self._attrs[name]

    def complete(self, scope: dict[str, Variable]) -> Operator:
        """The operator; *scope* holds the variables of the backward part that are not in the block yet."""
        if self._type is None:
            raise OperatorError("a callback appended an operator description without a type")

        def find(name: str) -> Any:
            return scope.get(name, name)

        return check_op(
            self._block,
            self._type,
            {s: [find(n) for n in ns] for s, ns in self._inputs.items()},
            {s: [find(n) for n in ns] for s, ns in self._outputs.items()},
            self._attrs,
        )


class BlockDesc:
    """Description of one block, new operators included."""

    __slots__ = ("_block",)

    def __init__(self, block: Block) -> None:
        self._block = block

    @property
    def id(self) -> int:
        return self._block.idx

    @property
    def parent(self) -> int:
        return self._block.parent_idx

    def _ops(self) -> list[Any]:
        return [*self._block.ops, *self._block.pending]

    def op_size(self) -> int:
        """Number of operators, those being added included."""
        return len(self._block.ops) + len(self._block.pending)

    def op(self, index: int) -> Any:
        """The description at *index*."""
        entry = self._ops()[index]
        return entry if isinstance(entry, NewOpDesc) else OpDesc(entry)

    def append_op(self) -> NewOpDesc:
        """An empty description at the end, for a callback to fill in."""
        new = NewOpDesc(self._block)
        self._block.pending.append(new)  # type: ignore[arg-type]
        return new

    def has_var(self, name: str | bytes) -> bool:
        return (name.decode() if isinstance(name, bytes) else name) in self._block.vars

    def __repr__(self) -> str:
        return f"BlockDesc({self._block.idx}, {self.op_size()} operators)"
