"""One node of an exported graph, as the rows of the tables see it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from gradtool import paddle

from .errors import Missing, Unsound
from .values import HeldTensor, SymbolicSize

if TYPE_CHECKING:
    from .graph import Pt2Builder, Scope

_UNTOLD: Any = object()


class Meta(NamedTuple):
    """Facts of the file about a tensor.

    Attributes:
        shape: its sizes, -1 for those that are told when it is fed.
        kind: the name of its element type.
    """

    shape: tuple[int, ...]
    kind: str


class Pt2Node:
    """A node: its arguments by the names that the operator's schema gives them.

    Attributes:
        kind: the name of the operator, ``aten.add``.
        arguments: what they stand for; those that have their default are left out.
        positional: the arguments of an operator of higher order, which have no names.
        outputs: what the file says of each tensor that the node makes; None for what is no tensor.
    """

    def __init__(
        self,
        builder: Pt2Builder,
        kind: str,
        arguments: Mapping[str, Any],
        positional: Sequence[Any],
        outputs: Sequence[Meta | None],
        scope: Scope,
    ) -> None:
        self.builder = builder
        self.kind = kind
        self.arguments = arguments
        self.positional = positional
        self.outputs = outputs
        self.scope = scope

    def __call__(self, name: str, default: Any = _UNTOLD) -> Any:
        """The argument *name*: variables where it is a tensor or a list of them, else as the file has it."""
        if name not in self.arguments:
            if default is _UNTOLD:
                raise Unsound(f"{self.kind} has no argument {name}")
            return default
        value = plain(self.arguments[name])
        return default if value is None and default is not _UNTOLD else value

    def tensor(self, name: str) -> Any:
        """The argument *name*, which must be a tensor."""
        value = self(name)
        if not is_tensor(value):
            raise Unsound(f"the argument {name} of {self.kind} is no tensor")
        return value

    def held(self, name: str) -> HeldTensor | None:
        """The tensor of the graph that the argument *name* is; None where it is something else."""
        value = self.arguments.get(name)
        return value if isinstance(value, HeldTensor) else None

    def whole(self, name: str, default: Any = _UNTOLD) -> Any:
        """A whole number that is known when the file is read."""
        value = self(name, default)
        if isinstance(value, SymbolicSize):
            raise Missing(f"the argument {name} that is computed")
        if value is not default and (not isinstance(value, int) or isinstance(value, bool)):
            raise Unsound(f"the argument {name} of {self.kind} is no whole number")
        return value

    def wholes(self, name: str, default: Any = _UNTOLD) -> Any:
        """Whole numbers that are known when the file is read."""
        value = self(name, default)
        if isinstance(value, int) and not isinstance(value, bool):
            return [value]
        if isinstance(value, Sequence) and any(isinstance(v, SymbolicSize) for v in value):
            raise Missing(f"the argument {name} that is computed")
        if value is not default and not (isinstance(value, list) and all(type(v) is int for v in value)):
            raise Unsound(f"the argument {name} of {self.kind} is no list of whole numbers")
        return value

    def axis(self, name: str = "dim", default: Any = _UNTOLD, of: Any = None, more: int = 0) -> int:
        """An axis of a tensor, of ``self`` unless *of* is another one, counted from the front."""
        rank = len((self.tensor("self") if of is None else of).shape) + more
        axis = self.whole(name, default)
        if not -max(rank, 1) <= axis < max(rank, 1):
            raise Unsound(f"axis {axis} of a tensor of {rank}")
        return int(axis % max(rank, 1))

    def flag(self, name: str, default: bool = False) -> bool:
        """A truth value."""
        return bool(self(name, default))

    @property
    def made(self) -> Meta:
        """Facts of the file about the first tensor that the node makes."""
        first = next((meta for meta in self.outputs if meta is not None), None)
        if first is None:
            raise Unsound(f"{self.kind} makes no tensor")
        return first


def plain(value: Any) -> Any:
    """A value with variables in the place of the graph's tensors."""
    if isinstance(value, HeldTensor):
        return value.now()
    return [plain(v) for v in value] if isinstance(value, list) else value


def is_tensor(value: Any) -> bool:
    """Return whether it is a variable."""
    return hasattr(value, "stop_gradient")


def kind_of(x: Any) -> str:
    """The name of the element type of a variable."""
    return str(x.dtype).rpartition(".")[2]


def is_whole(kind: str) -> bool:
    """Return whether elements of a type are whole numbers."""
    return kind.startswith(("int", "uint"))


def cast(x: Any, kind: str) -> Any:
    """*x* as elements of another type; itself where it is of that type."""
    return x if kind_of(x) == kind else paddle.cast(x, kind)
