"""One node of an ONNX graph, as the rows of the tables see it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .errors import Lacking, Malformed
from .narrow_types import CARRIERS
from .tensors import array_of, kind_of

if TYPE_CHECKING:
    from .graph import OnnxBuilder


class GraphName:
    """Value of a name in the graph.

    Attributes:
        name: as the file has it.
        array: the elements, where they are constant.
        learnt: whether the file holds it as an initializer of real numbers, which training changes.
        variable: in the program; None until somebody reads it.
        sizes: the elements of a list of sizes as far as they are constant, None for those that are not.
        kind: the element type that the file means, where it is kept in a wider one.
        real: what a quantized tensor was before.
        many: the entries of a sequence.
    """

    __slots__ = ("array", "kind", "learnt", "many", "name", "real", "sizes", "variable")

    def __init__(self, name: str, variable: Any = None, array: Any = None, learnt: bool = False) -> None:
        self.name = name
        self.variable = variable
        self.array = array
        self.learnt = learnt
        self.sizes: list[int | None] | None = None
        self.kind = ""
        self.real: Any = None
        self.many: list[GraphName] | None = None


class OnnxNode:
    """A node: its attributes, and its operands in the mode that the row is called in.

    Attributes:
        kind: the name of the operator.
        outputs: the names of what it makes, empty for what nobody asked for.
        opset: the version of the operator set.
        entries: the operands; None for those that are left out.
    """

    def __init__(
        self, builder: OnnxBuilder, proto: Any, entries: list[GraphName | None], opset: int, folding: bool
    ) -> None:
        from onnx import AttributeProto

        self.builder = builder
        self.kind: str = proto.op_type
        self.name: str = proto.name
        self.outputs: list[str] = list(proto.output)
        self.opset = opset
        self.entries = entries
        self.folding = folding
        self.env: dict[str, GraphName] = {}
        """What the names around it stand for, for graphs inside."""
        self._types = AttributeProto
        self._attributes = {a.name: a for a in proto.attribute}

    # -- operands -----------------------------------------------------------------------------------------------------

    def __len__(self) -> int:
        return len(self.entries)

    def has(self, i: int) -> bool:
        """Return whether operand *i* is there."""
        return i < len(self.entries) and self.entries[i] is not None

    def entry(self, i: int) -> GraphName:
        """Operand *i*; raises :class:`Malformed` where it is left out."""
        entry = self.entries[i] if i < len(self.entries) else None
        if entry is None:
            raise Malformed(f"{self.kind} has no input {i}")
        return entry

    def __getitem__(self, i: int) -> Any:
        """The variable (in dynamic mode the tensor) of operand *i*."""
        return self.builder.value(self.entry(i), self.folding)

    def get(self, i: int) -> Any:
        """The same; None where it is left out."""
        return self[i] if self.has(i) else None

    def every(self) -> list[Any]:
        """All operands."""
        return [self[i] for i in range(len(self.entries))]

    def declared_type(self, i: int) -> str:
        """The element type of operand *i* that the file means."""
        return self.entry(i).kind or kind_of(self[i])

    def made(self, value: Any, kind: str = "", real: Any = None) -> GraphName:
        """The entry of the first output.

        Args:
            kind: the element type that the file means.
            real: what it was before it was rounded.
        """
        name = self.outputs[0]
        entry = GraphName(name, array=np.asarray(value.numpy())) if self.folding else self.builder.entry(name, value)
        assert entry is not None
        entry.kind = kind if kind in CARRIERS else ""
        entry.real = None if self.folding else real
        return entry

    def array(self, i: int) -> np.ndarray[Any, Any] | None:
        """The elements of operand *i*; None where it is left out or not constant."""
        entry = self.entries[i] if i < len(self.entries) else None
        return None if entry is None else entry.array

    def constant(self, i: int, what: str) -> np.ndarray[Any, Any]:
        """The elements of operand *i*; raises :class:`Lacking` unless they are constant."""
        array = self.array(i)
        if array is None:
            self.entry(i)
            raise Lacking(f"{what} that is computed")
        return array

    def ints(self, i: int, what: str = "an input") -> list[int]:
        """The elements of operand *i*, whole numbers that are constant."""
        sizes = self.sizes(i)
        if sizes is None or None in sizes:
            raise Lacking(f"{what} that is computed")
        return [n for n in sizes if n is not None]

    def sizes(self, i: int) -> list[int | None] | None:
        """The elements of operand *i*, as far as they are constant: None for those that are not."""
        entry = self.entry(i)
        if entry.array is not None:
            return [int(n) for n in entry.array.reshape(-1)]
        return entry.sizes

    def sizes_or_none(self, i: int) -> list[int | None] | None:
        """The same for what may be no list of sizes: None for elements that are no whole numbers, and for many."""
        entry = self.entry(i)
        if entry.array is not None and (entry.array.dtype.kind != "i" or entry.array.size > 64):
            return None
        return self.sizes(i)

    def number(self, i: int, default: Any = None) -> Any:
        """The only element of operand *i*, a constant; *default* where it is left out."""
        if not self.has(i):
            return default
        array = self.constant(i, "a number")
        if array.size != 1:
            raise Malformed(f"input {i} of {self.kind} has {array.size} elements instead of one")
        return array.reshape(())[()].item()

    # -- attributes ---------------------------------------------------------------------------------------------------

    def whole(self, name: str, default: Any = None) -> Any:
        """A whole number."""
        a = self._cast_constant(name, self._types.INT)
        return default if a is None else int(a.i)

    def real(self, name: str, default: Any = None) -> Any:
        """A number: of the decimals that mean it in single precision the shortest."""
        a = self._cast_constant(name, self._types.FLOAT)
        return default if a is None else float(str(np.float32(a.f)))

    def wholes(self, name: str, default: Any = None) -> Any:
        """Whole numbers."""
        a = self._cast_constant(name, self._types.INTS)
        return default if a is None else [int(n) for n in a.ints]

    def reals(self, name: str, default: Any = None) -> Any:
        """Numbers."""
        a = self._cast_constant(name, self._types.FLOATS)
        return default if a is None else [float(str(np.float32(n))) for n in a.floats]

    def text(self, name: str, default: Any = None) -> Any:
        """A text."""
        a = self._cast_constant(name, self._types.STRING)
        return default if a is None else a.s.decode("utf-8", "replace")

    def texts(self, name: str, default: Any = None) -> Any:
        """Texts."""
        a = self._cast_constant(name, self._types.STRINGS)
        return default if a is None else [s.decode("utf-8", "replace") for s in a.strings]

    def tensor(self, name: str) -> np.ndarray[Any, Any] | None:
        """A constant; None where there is none."""
        a = self._cast_constant(name, self._types.TENSOR)
        return None if a is None else array_of(a.t, self.builder.folder)

    def graph(self, name: str) -> Any:
        """A graph."""
        a = self._cast_constant(name, self._types.GRAPH)
        if a is None:
            raise Malformed(f"{self.kind} has no graph {name}")
        return a.g

    def holds(self, name: str) -> bool:
        """Return whether the node sets the attribute *name*."""
        return name in self._attributes

    def _cast_constant(self, name: str, kind: int) -> Any:
        a = self._attributes.get(name)
        if a is not None and a.type != kind:
            raise Malformed(f"the attribute {name} of {self.kind} is of another type")
        return a
