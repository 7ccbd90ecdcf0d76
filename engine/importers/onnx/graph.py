"""From an ONNX graph to a static program: names, constants, sources, and what is lacking.

Nodes are taken in their order. A node reads a :class:`.node.GraphName`: an initializer becomes a parameter with
its name when the first operator reads it, a constant is folded into whoever takes it as a number. Lists of sizes are
followed even where some sizes are not known, so that a shape that is computed from shapes becomes an attribute; what
was only computed for that is taken out at the end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, Final, NoReturn

import numpy as np

from gradtool import paddle

from ...core import source, state
from ...core.errors import FileFormatError, GradtoolError, UnsupportedError
from ...core.spec import TensorSpec
from ...executor.scope import global_scope
from ...ir import default
from ...ir.assemble import assemble
from ...ir.operator import Operator, each
from ...ir.program import Program
from ...ir.variable import Parameter, Variable
from ...ops.stand_in import Absent, StandIn
from ...script.renaming import rename
from . import narrow_types, sizes
from .errors import Lacking, Malformed
from .node import GraphName, OnnxNode
from .operators import rows
from .origins import Origins
from .sources import OnnxSources
from .tensors import array_of, declared_type, is_real, type_name

EXPECTED: Final = "an ONNX model"
_MOST_FOLDED: Final = 1 << 16
"""Elements of what is folded: larger constants are computed when the program runs."""
_WRONG: Final = (TypeError, ValueError, LookupError, ArithmeticError, AttributeError, MemoryError, AssertionError)
"""What Python and NumPy raise for attributes and operands that no row expects."""
_MOST_AXES: Final = 32
_LONGEST_AXIS: Final = 1 << 24
"""Of what is fed: where windows lie along an axis is worked out place by place."""
_MOST_NODES: Final = 200_000
"""Nodes with those that loops repeat: a file of some bytes can ask for any number of rounds."""


class OnnxBuilder:
    """The program of a graph, while it is built.

    Attributes:
        program: with the operators so far.
        notes: what whoever asks should know about how the file is read.
        names: variables that are called after the file's names when all is built.
    """

    def __init__(self, file: str, folder: Path) -> None:
        self.file = file
        self.folder = folder
        self.at = ""
        self.program = Program()
        self.absent = Absent()
        self.notes: list[str] = []
        self.sources = OnnxSources(file)
        self.names: dict[Variable, str] = {}
        self.opset = 0
        self.inferred: Callable[[str], Any] = lambda name: None
        self.nodes = 0
        self._constants: dict[str, Variable] = {}
        self._following: set[Operator] = set()
        """Operators that compute lists of sizes, which nobody may need."""

    def fail(self, came: str, hint: str | None = None) -> NoReturn:
        raise FileFormatError(f"{self.file}{self.at}", EXPECTED, came, hint=hint)

    def note(self, text: str) -> None:
        """Tell *text*, once."""
        if text not in self.notes:
            self.notes.append(text)

    # -- the whole graph ----------------------------------------------------------------------------------------------

    def read(self, graph: Any, opset: int) -> list[Variable]:
        """Build the program of the main graph; give the variables that it computes."""
        self.opset = opset
        with default.program_guard(self.program, Program()):
            env = self.initializers(graph, {})
            for value in graph.input:
                if value.name not in env:
                    env[value.name] = self.fed(value)
            self.walk(graph.node, env)
            self.at = ""
            results = []
            for value in graph.output:
                entry = env.get(value.name)
                if entry is None:
                    self.fail(f"the output {value.name!r} is made by no node")
                results += [self.value(e, False) for e in self.flat(entry)]
        self.finish(results)
        return results

    def flat(self, entry: GraphName) -> list[GraphName]:
        """*entry*, or the entries of the sequence that it is."""
        return [entry] if entry.many is None else list(entry.many)

    def initializers(self, graph: Any, env: dict[str, GraphName]) -> dict[str, GraphName]:
        """*env* with the values that a graph holds."""
        env = dict(env)
        if graph.sparse_initializer:
            self.fail("sparse initializers", "gradtool reads dense ones")
        origins = Origins(graph)
        for proto in graph.initializer:
            self.at = f", initializer {proto.name!r}"
            try:
                array = array_of(proto, self.folder)
            except (Malformed, Lacking) as error:
                self.fail(str(error))
            kind = self.declared_type(proto.data_type)
            learnt = is_real(array) and not kind and origins.is_learnt(proto.name)
            env[proto.name] = GraphName(origins.name(proto.name), array=array, learnt=learnt)
            env[proto.name].kind = kind
        self.at = ""
        return env

    def fed(self, value: Any) -> GraphName:
        """An input of the graph."""
        self.at = f", input {value.name!r}"
        kind = value.type.WhichOneof("value")
        if kind != "tensor_type":
            self.fail(f"it is a {kind}", "gradtool feeds tensors")
        tensor = value.type.tensor_type
        try:
            dtype = type_name(tensor.elem_type)
        except Lacking as error:
            self.fail(f"it is of {error}")
        if not tensor.HasField("shape"):
            self.fail("its rank is not said")
        shape = [d.dim_value if d.HasField("dim_value") and d.dim_value >= 0 else -1 for d in tensor.shape.dim]
        if len(shape) > _MOST_AXES or any(d > _LONGEST_AXIS for d in shape):
            self.fail(f"its shape is {shape[:_MOST_AXES]}")
        v = Variable(
            self.program.global_block(), value.name, TensorSpec(shape, dtype), is_data=True, stop_gradient=True
        )
        self.program.global_block().vars[v.name] = v
        entry = GraphName(value.name, v)
        entry.kind = self.declared_type(tensor.elem_type)
        self.at = ""
        return entry

    def declared_type(self, number: int) -> str:
        """The name of an element type that is kept in a wider one, which is told; empty for those that gradtool has."""
        kind = declared_type(number)
        if kind:
            self.note(narrow_types.NOTE.format(kind, narrow_types.CARRIERS[kind]))
        return kind

    def finish(self, results: Sequence[Variable]) -> None:
        """Take out what was computed for sizes alone, and call the variables as the file does."""
        self.prune(results)
        rename(self.program, self.names)

    def prune(self, results: Sequence[Variable]) -> None:
        """Remove operators that only make sizes that became attributes."""
        inner = [op for b in self.program.blocks[1:] for op in b.ops]
        block = self.program.global_block()
        wanted = {*results, *(v for op in inner for v in each(op.inputs))}
        remaining = []
        for op in reversed(block.ops):
            makes = list(each(op.outputs))
            if op in self._following and wanted.isdisjoint(makes):
                for v in makes:
                    block.vars.pop(v.name, None)
                continue
            wanted.update(each(op.inputs))
            remaining.append(op)
        block.ops = remaining[::-1]

    # -- nodes --------------------------------------------------------------------------------------------------------

    def walk(self, nodes: Iterable[Any], env: dict[str, GraphName]) -> None:
        """Emit *nodes* in their order; what they make goes to *env*."""
        for proto in nodes:
            self.nodes += 1
            if self.nodes > _MOST_NODES:
                self.fail(f"more than {_MOST_NODES} nodes, with those that loops repeat")
            self.sources.count += 1
            before, line = self.at, self.sources.count
            self.at = f", node {line} ({proto.op_type}{' ' + repr(proto.name) if proto.name else ''})"
            stood = source.pretend(self.sources.location(proto, line))
            try:
                with state.entered_scope(self.sources.scope(proto)):
                    self.node(proto, env)
            finally:
                source.pretend(stood)
            self.at = before

    def node(self, proto: Any, env: dict[str, GraphName]) -> None:
        """Emit one node."""
        entries = []
        for name in proto.input:
            if name and name not in env:
                self.fail(f"it reads {name!r}, which nobody makes before it", "nodes stand in the order of their use")
            entries.append(env[name] if name else None)
        count = len(default.current_block().ops)
        try:
            made = self.results(proto, entries, env)
        except Malformed as error:
            self.fail(str(error))
        except (Lacking, UnsupportedError) as error:
            self.undo(count)
            made = self.stand_in(proto, entries, str(error))
        except FileFormatError:
            raise
        except RecursionError:
            self.fail("graphs nested too deeply")
        except (GradtoolError, *_WRONG) as error:
            if not self.absent.texts():
                self.fail(*_fault(proto.op_type, error))
            self.undo(count)
            made = self.stand_in(proto, entries, "what it reads comes from one that is lacking")
        if len(made) < sum(map(bool, proto.output)) and any(proto.output[len(made) :]):
            self.fail(f"it has {len(proto.output)} outputs, and {proto.op_type} makes {len(made)}")
        for name, entry in zip(proto.output, made, strict=False):
            if name and entry is not None:
                env[name] = entry

    def results(self, proto: Any, entries: list[GraphName | None], env: dict[str, GraphName]) -> list[GraphName | None]:
        """Return the results of a node, folded where all that it reads is constant."""
        if proto.domain not in ("", "ai.onnx"):
            raise Lacking(f"of the domain {proto.domain}")
        row = rows.lookup(proto.op_type, self.opset)
        if row is None:
            raise Lacking("")
        for place in rows.FIXED.get(proto.op_type, ()):
            entry = entries[place] if place < len(entries) else None
            if entry is not None and entry.variable is None:
                entry.learnt = False
        if self.folds(proto, entries):
            return self.folded(row, OnnxNode(self, proto, entries, self.opset, True))
        node = OnnxNode(self, proto, entries, self.opset, False)
        followed = sizes.follow(node)
        node.env = env
        block = default.current_block()
        before = len(block.ops)
        made = row(node)
        if followed is not None:
            self._following.update(block.ops[before:])
        listed = list(made) if isinstance(made, (tuple, list)) else [made]
        results = self.entries(node, listed)
        if followed is not None and results and results[0] is not None:
            results[0].sizes = followed
        return results

    def entries(self, node: OnnxNode, made: list[Any]) -> list[GraphName | None]:
        """The entries of what a row has made, of the types that the file means."""
        kinds = [e.kind for e in node.entries if e is not None and e.kind]
        if not kinds:
            return [self.entry(name, v) for name, v in zip(node.outputs, made, strict=False)]
        results = []
        for name, value in zip(node.outputs, made, strict=False):
            kind = narrow_types.result_kind(kinds, value)
            entry = self.entry(name, narrow_types.settle(node.kind, kind, value) if kind else value)
            if entry is not None and kind:
                entry.kind = kind
            results.append(entry)
        return results

    def entry(self, name: str, made: Any) -> GraphName | None:
        """The entry of what a row has made."""
        if made is None or isinstance(made, GraphName):
            return made
        if isinstance(made, np.ndarray):
            return GraphName(name, array=made)
        if isinstance(made, Variable) and made.op is not None and made not in self.names and name:
            self.names[made] = name
        if isinstance(made, Variable) and not made.dtype.is_differentiable:
            made.stop_gradient = True
        return GraphName(name, made)

    def folds(self, proto: Any, entries: Sequence[GraphName | None]) -> bool:
        """Return whether all that a node reads is constant, and small."""
        present = [e for e in entries if e is not None]
        if not present or proto.op_type in rows.NEVER_FOLDED:
            return False
        if any(e.array is None or e.learnt for e in present):
            return False
        small = sum(e.array.size for e in present) <= _MOST_FOLDED
        return small and sizes.stays_small(proto.op_type, present, _MOST_FOLDED)

    def folded(self, row: Callable[[Any], Any], node: OnnxNode) -> list[GraphName | None]:
        """Return the results of a node on constants: its row in dynamic mode."""
        with state.dynamic_mode(), paddle.no_grad():
            made = row(node)
        listed = list(made) if isinstance(made, (tuple, list)) else [made]
        return [_constant(name, v) for name, v in zip(node.outputs, listed, strict=False)]

    def undo(self, count: int) -> None:
        """Take out what a row has emitted before it gave up: all but the first *count* operators of the block."""
        block = default.current_block()
        for op in block.ops[count:]:
            for v in each(op.outputs):
                block.vars.pop(v.name, None)
                self.names.pop(v, None)
        del block.ops[count:]

    def stand_in(self, proto: Any, entries: Sequence[GraphName | None], why: str) -> list[GraphName | None]:
        """Append an operator that stands for one that gradtool lacks."""
        told = f"{proto.op_type} {proto.name}".strip()
        place = source.short(source.here())
        self.absent.add(f"{told} at {place}" if place else told, why)
        read = [self.value(e, False) for top in entries if top is not None for e in self.flat(top)]
        op = StandIn(proto.op_type, ["X"], ["Out"], {}, self.absent)
        block = default.current_block()
        outputs = []
        for name in proto.output:
            spec = self.inferred(name) if name else None
            v = Variable(block, self.program.names(f"{proto.op_type}.tmp"), spec or TensorSpec((-1,), "float32"))
            block.vars[v.name] = v
            v.stop_gradient = not v.dtype.is_floating or all(r.stop_gradient for r in read)
            outputs.append(v)
        names = {"X": [v.name for v in dict.fromkeys(read)]}, {"Out": [v.name for v in outputs]}
        block._append(assemble(block, op, *names, {}, loc=source.here(), scope=state.name_scope()))
        return [self.entry(name, v) for name, v in zip(proto.output, outputs, strict=True)]

    # -- values -------------------------------------------------------------------------------------------------------

    def value(self, entry: GraphName, folding: bool) -> Any:
        """The tensor of an entry where constants are folded, and its variable elsewhere."""
        if folding:
            return paddle.to_tensor(entry.array)
        if entry.many is not None:
            raise Lacking("a sequence in the place of a tensor")
        if entry.variable is None:
            entry.variable = self.held(entry)
        return entry.variable

    def held(self, entry: GraphName) -> Variable:
        """A variable that lives in the scope, with the elements of a constant; a parameter, if training changes it."""
        block = self.program.global_block()
        name = entry.name if entry.name not in block.vars else self.program.names(f"{entry.name}.constant")
        spec = TensorSpec(entry.array.shape, entry.array.dtype)
        v: Variable
        if entry.learnt:
            v = Parameter(block, name, spec, loc=source.here())
        else:
            v = Variable(block, name, spec, persistable=True, stop_gradient=True)
        block.vars[name] = v
        global_scope().values[name] = np.ascontiguousarray(entry.array).reshape(entry.array.shape)
        return v


def _fault(operator: str, error: Exception) -> tuple[str, str | None]:
    """Return the fault of a node whose row has raised *error*, and a hint."""
    if isinstance(error, GradtoolError):
        return error.message.removesuffix("."), error.hint
    return f"its operands or attributes fit no {operator}: {error}", None


def _constant(name: str, made: Any) -> GraphName | None:
    """The entry of what a row has made of constants."""
    if made is None or isinstance(made, GraphName):
        return made
    return GraphName(name, array=np.asarray(made if isinstance(made, np.ndarray) else made.numpy()))
