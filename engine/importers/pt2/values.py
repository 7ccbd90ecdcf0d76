"""Values of names in a graph: tensors, some of them views of others, and sizes that are known when it is fed.

Programs here make a new variable where PyTorch writes into a tensor. So a name stands for a :class:`HeldTensor`,
which says which variable has its elements now; what is written through a view is put into the tensor that it looks at,
and other views of that are taken anew when somebody reads them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gradtool import paddle

from ...ir.variable import Variable
from .errors import Missing


class Storage:
    """Shared storage of several tensors: how often it was written to."""

    __slots__ = ("writes",)

    def __init__(self) -> None:
        self.writes = 0


class HeldTensor:
    """A tensor of the graph.

    Attributes:
        variable: has its elements, as of *seen* writes to its storage.
        base: the tensor that it looks at; None where it is none's view.
        again: takes the view anew.
        back: the base with other elements in the place of the view's; None where nobody can write through the view.
    """

    __slots__ = ("again", "back", "base", "seen", "storage", "variable")

    def __init__(self, variable: Any) -> None:
        self.variable = variable
        self.base: HeldTensor | None = None
        self.again: Callable[[], Any] | None = None
        self.back: Callable[[Any, Any], Any] | None = None
        self.storage = Storage()
        self.seen = 0

    def look_at(self, base: HeldTensor, again: Callable[[], Any], back: Callable[[Any, Any], Any] | None) -> None:
        """From now on be a view of *base*."""
        self.base, self.again, self.back = base, again, back
        self.storage, self.seen = base.storage, base.storage.writes

    def now(self) -> Any:
        """The variable that has its elements now."""
        stale: list[HeldTensor] = []
        held: HeldTensor | None = self
        while held is not None and held.seen < held.storage.writes:
            stale.append(held)
            held = held.base
        for view in reversed(stale):
            if view.again is not None:
                view.variable = view.again()
            view.seen = view.storage.writes
        return self.variable

    def write(self, variable: Any) -> None:
        """Give it other elements, and all that it looks at."""
        chain: list[HeldTensor] = [self]
        while chain[-1].base is not None:
            if chain[-1].back is None:
                raise Missing("writing through a view of this kind")
            chain[-1].base.now()
            chain.append(chain[-1].base)
        writes = self.storage.writes + 1
        for i, held in enumerate(chain):
            held.variable = variable
            held.seen = writes
            if held.back is not None and i + 1 < len(chain):
                variable = held.back(chain[i + 1].variable, variable)
        self.storage.writes = writes


class SymbolicSize:
    """A whole number that is not known before the program is fed.

    Args:
        make: emits the operators that compute it, as a variable with one element; called once, by the first who reads.
    """

    def __init__(self, make: Callable[[], Any]) -> None:
        self._make = make
        self._variable: Any = None

    def variable(self) -> Variable:
        """It as a tensor of no axis."""
        v = self._variable
        if v is None or v.block.vars.get(v.name) is not v:  # what was emitted for a row that failed was taken back
            v = self._variable = self._make()
        return v  # type: ignore[no-any-return]


def size_of(x: Any, axis: int) -> int | SymbolicSize:
    """The size of a variable along an axis."""
    size = int(x.shape[axis])
    if size >= 0:
        return size
    return SymbolicSize(
        lambda: paddle.reshape(paddle.slice(paddle.cast(paddle.shape(x), "int64"), [0], [axis], [axis + 1]), [])
    )


def write_behind_autograd(whole: Any, made: Any) -> Any:
    """The elements of *made* and the gradient of *whole*: so PyTorch goes on that was not told of a write."""
    return whole if made is whole else whole + (made - whole).detach()


def as_number(value: Any) -> Any:
    """A number, or the variable that has it."""
    return value.variable() if isinstance(value, SymbolicSize) else value


def elements(values: Any) -> list[Any]:
    """A list of sizes, variables in the places of those that are not known."""
    return [as_number(v) for v in values]
