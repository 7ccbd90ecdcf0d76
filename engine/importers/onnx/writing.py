"""From a static program, with its backward part or without, to an ONNX model that onnxruntime runs.

Operators are written by the rows in :mod:`.writers`; gradient operators are operators like the others. What has no
row is told all at once. Values keep the names of their variables; a variable that is written twice gets a new name
the second time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final

import numpy as np

from ...core.errors import UnsupportedError
from ...core.spec import dtype
from ...ir.operator import Operator
from ...ir.program import Program
from ...ir.variable import DENSE, Variable
from .tensors import type_number

OPSET: Final = 17
_IR: Final = 8
MOST_TOLD: Final = 12


class MissingRow(Exception):
    """An operator, or a form of it, that has no row."""


class GraphWriter:
    """The nodes of a graph, while it is written.

    Attributes:
        nodes: so far, of the graph that is being written.
        held: constants by name.
        lacking: what has no row.
    """

    def __init__(self, program: Program) -> None:
        from onnx import helper

        self.program = program
        self.helper = helper
        self.nodes: list[Any] = []
        self.lacking: dict[str, None] = {}
        self.held: dict[str, Any] = {}
        self.names: set[str] = {v.name for v in program.list_vars()}
        self.values: dict[Variable, str] = {}
        self._makers: dict[str, tuple[Any, int]] = {}
        self._read: set[str] = set()
        self._named: set[Variable] = set()
        """Those whose names are taken, also by values that hold in a graph alone."""
        self._count = 0

    def write(self, ops: Iterable[Operator]) -> None:
        """Append the nodes of operators; what has no row is noted."""
        for op in ops:
            try:
                _write(self, op)
            except MissingRow as error:
                self.lacking.setdefault(f"{op.type} ({error})" if str(error) else op.type)

    @contextmanager
    def graph(self) -> Iterator[OnnxGraph]:
        """Have what is written go to a graph inside a node; what it gives to variables holds in it alone."""
        graph = OnnxGraph(self)
        around, values = self.nodes, dict(self.values)
        self.nodes = graph.nodes
        try:
            yield graph
        finally:
            self.nodes, self.values = around, values

    def has_value(self, v: Variable) -> bool:
        """Return whether something has given a variable a value."""
        return v in self.values or v.persistable or v.is_data

    def fresh(self, kind: str) -> str:
        """A name that nothing has."""
        while True:
            self._count += 1
            name = f"{kind}.{self._count}"
            if name not in self.names:
                self.names.add(name)
                return name

    def node(self, kind: str, *reads: str, **attributes: Any) -> str:
        """Append a node with one output; give its name."""
        return self.several(kind, reads, 1, **attributes)[0]

    def several(self, kind: str, reads: Iterable[str], count: int, **attributes: Any) -> list[str]:
        """Append a node with *count* outputs."""
        reads = list(reads)
        made = [self.fresh(kind) for _ in range(count)]
        node = self.helper.make_node(kind, reads, made, **attributes)
        self.nodes.append(node)
        self._read.update(reads)
        self._makers.update((name, (node, i)) for i, name in enumerate(made))
        return made

    def constant(self, value: Any, dtype: str = "int64") -> str:
        """A constant; equal ones are one."""
        array = np.asarray(value, dtype=_numpy(dtype))
        key = f"const.{array.dtype}.{'x'.join(map(str, array.shape))}.{array.tobytes().hex()[:64]}"
        if array.nbytes > 32 or key not in self.held:
            key = key if array.nbytes <= 32 else self.fresh("const")
            self.held[key] = array
        return key

    def value(self, v: Variable) -> str:
        """The value of a variable."""
        return self.values.get(v, v.name)

    def number(self, value: float, like: Variable) -> str:
        """A number in the type of a variable."""
        return self.constant(value, like.dtype.name)

    def shape(self, v: Variable) -> str:
        """The sizes of a variable: a constant where all are known."""
        return self.constant(v.shape) if all(d >= 0 for d in v.shape) else self.node("Shape", self.value(v))

    def give(self, v: Variable, value: str) -> None:
        """Have *value* be that of a variable, under its name if that is free."""
        name = self.fresh(v.name) if self.has_value(v) or v in self._named else v.name
        self._named.add(v)
        maker = self._makers.get(value)
        if maker is not None and value not in self._read:
            node, i = maker
            node.output[i] = name
            del self._makers[value]
        else:
            self.nodes.append(self.helper.make_node("Identity", [value], [name]))
            self._read.add(value)
        self.values[v] = name


class OnnxGraph:
    """A graph inside a node, while it is written.

    Attributes:
        nodes: so far.
    """

    def __init__(self, w: GraphWriter) -> None:
        self.w = w
        self.nodes: list[Any] = []
        self._takes: list[Any] = []
        self._gives: list[Any] = []

    @property
    def count(self) -> int:
        """Number of values that it gives."""
        return len(self._gives)

    def take(self, kind: str, dtype: str, shape: Sequence[int] | None) -> str:
        """The name of a further value that it gets."""
        name = self.w.fresh(kind)
        self._takes.append(self.w.helper.make_tensor_value_info(name, type_number(dtype), shape))
        return name

    def give(self, value: str, like: Variable) -> None:
        """Have it give *value*, in the type of a variable."""
        name = self.w.node("Identity", value)  # graphs give what is made in them, and each value once
        self._gives.append(self.w.helper.make_tensor_value_info(name, type_number(like.dtype.name), None))

    def proto(self, name: str) -> Any:
        """As an attribute of its node."""
        return self.w.helper.make_graph(self.nodes, name, self._takes, self._gives)


class OnnxCall:
    """An operator, as rows see it.

    Attributes:
        w: what it is written to.
    """

    def __init__(self, w: GraphWriter, op: Operator) -> None:
        self.w = w
        self.op = op
        self.attrs: Mapping[str, Any] = op.attrs

    def many(self, slot: str) -> list[Variable]:
        """The variables of an input slot."""
        return [v for v in self._slot(self.op.op.inputs, self.op.inputs, slot) if v is not None]

    def results(self, slot: str) -> list[Variable | None]:
        """The variables of an output slot."""
        return self._slot(self.op.op.outputs, self.op.outputs, slot)

    def _slot(self, slots: Any, operands: Any, name: str) -> list[Any]:
        for s, value in zip(slots, operands, strict=False):
            if s.name == name:
                return list(value) if isinstance(value, tuple) else [value]
        return []

    def var(self, slot: str) -> Variable:
        """The only variable of an input slot."""
        held = self.many(slot)
        if len(held) != 1:
            raise MissingRow(f"without {slot}")
        return held[0]

    def has(self, slot: str) -> bool:
        """Return whether an input slot holds something."""
        return bool(self.many(slot))

    def __getitem__(self, slot: str) -> str:
        return self.w.value(self.var(slot))

    def result(self, slot: str = "Out") -> Variable | None:
        """The variable of an output slot; None where nobody wants it."""
        held = self.results(slot)
        return held[0] if held else None

    def only(self, *slots: str) -> None:
        """Raise :class:`MissingRow` where one of these inputs is there."""
        for slot in slots:
            if self.has(slot):
                raise MissingRow(f"with {slot}")


def write(program: Program, values: Mapping[str, Any], outputs: Sequence[str]) -> bytes:
    """The model of *program* as bytes.

    Args:
        values: of its persistable variables, by name.
        outputs: the names of the variables that the model gives.

    Raises:
        UnsupportedError: it holds operators that have no row, all of which are named; onnx is not installed.
    """
    try:
        import onnx
    except ImportError:
        raise UnsupportedError(
            "ONNX files are written with the package onnx, which is not installed.", hint="pip install 'gradtool[onnx]'"
        ) from None
    w = GraphWriter(program)
    block = program.global_block()
    w.write(block.ops)
    if w.lacking:
        names = list(w.lacking)
        more = f" and {len(names) - MOST_TOLD} more" if len(names) > MOST_TOLD else ""
        raise UnsupportedError(
            f"the program cannot be written as ONNX: there is no row for {', '.join(names[:MOST_TOLD])}{more}.",
            hint="-o NAME.pdmodel writes it for Paddle; --forward-only leaves the backward part out",
        )
    return _model(onnx, w, values, [block.vars[n] for n in outputs])


def _write(w: GraphWriter, op: Operator) -> None:
    from . import writers

    row = writers.TABLE.get(op.type)
    if row is None:
        raise MissingRow
    call = OnnxCall(w, op)
    made = row(call)
    for slot, value in made.items() if isinstance(made, dict) else [(_first(op), made)]:
        listed = call.results(slot)
        for v, one in zip(listed, value if isinstance(value, list) else [value], strict=False):
            if v is not None and one is not None:
                w.give(v, one)


def _first(op: Operator) -> str:
    slots = [s.name for s in op.op.outputs]
    return "Out" if "Out" in slots else slots[0]


def _model(onnx: Any, w: GraphWriter, values: Mapping[str, Any], outputs: Sequence[Variable]) -> bytes:
    from onnx import helper, numpy_helper

    block = w.program.global_block()
    nodes = list(_every(w.nodes))
    read = {name for node in nodes for name in node.input}
    written = {name for node in nodes for name in node.output}
    written.update(value.name for node in nodes for a in node.attribute for value in a.g.input)
    inputs = [v for v in block.vars.values() if v.is_data and v.kind == DENSE and v.name in read]
    initializers = [numpy_helper.from_array(array, name) for name, array in w.held.items() if name in read]
    for v in block.vars.values():
        if v.persistable and v.name in values and v.name in read and not v.is_data:
            initializers.append(numpy_helper.from_array(np.asarray(values[v.name], order="C"), v.name))
    missing = sorted(read - written - {v.name for v in inputs} - {t.name for t in initializers} - {""})
    if missing:
        raise UnsupportedError(f"the program cannot be written as ONNX: nothing gives a value to {missing[0]!r}.")
    graph = helper.make_graph(
        w.nodes, "program", [_info(v, v.name) for v in inputs], [_info(v, w.value(v)) for v in outputs], initializers
    )
    model = helper.make_model(
        graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=_IR, producer_name="gradtool"
    )
    onnx.checker.check_model(model)
    return bytes(model.SerializeToString(deterministic=True))


def _every(nodes: Iterable[Any]) -> Iterator[Any]:
    """Nodes with those of the graphs inside."""
    todo = list(nodes)
    while todo:
        node = todo.pop()
        yield node
        todo += (inner for a in node.attribute for inner in a.g.node)


def _info(v: Variable, name: str) -> Any:
    from onnx import helper

    shape = [d if d >= 0 else f"{v.name}.{i}" for i, d in enumerate(v.shape)]
    return helper.make_tensor_value_info(name, type_number(v.dtype.name), shape)


def _numpy(name: str) -> Any:
    return dtype(name).numpy
