"""From an exported graph to a static program: names, sources, what is written in place, and what is missing.

Nodes are taken in their order. Parameters and buffers have the names that they have in the module; what a node makes is
called as the graph calls it. The file says the shape and the type of everything that is made, and it must be so.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final, NoReturn

import numpy as np

from gradtool import paddle

from ...core import source, state
from ...core.errors import FileFormatError, GradtoolError
from ...core.source import Location
from ...core.spec import TensorSpec, dtype
from ...executor.scope import global_scope
from ...files.jsontext import shorten_value
from ...ir import default
from ...ir.assemble import assemble
from ...ir.program import Block, Program
from ...ir.variable import Parameter, Variable
from ...ops.stand_in import Absent, StandIn
from ...script.renaming import rename
from .archive import EXPECTED, Archived, kind_name, kind_told
from .errors import Missing, Unsound
from .node import Meta, Pt2Node, cast, is_tensor, kind_of, plain
from .operators import rows
from .sources import Pt2Sources
from .values import HeldTensor, write_behind_autograd

_WRONG: Final = (TypeError, ValueError, LookupError, ArithmeticError, AttributeError, MemoryError, AssertionError)
"""What Python and NumPy raise for arguments that no row expects."""
_MOST_AXES: Final = 32
_LONGEST_AXIS: Final = 1 << 31
_MOST_NODES: Final = 200_000
_DEEPEST: Final = 32
_FARTHEST: Final = 1 << 63
_TARGET: Final = re.compile(r"(?:torch\.ops\.)?([\w.:]{1,200})")

Scope = dict[str, Any]
"""What the names of one graph stand for."""


class Pt2Builder:
    """The program of an archive, while it is built.

    Attributes:
        program: with the operators so far.
        notes: what whoever asks should know about how the file is read.
        blind: whether gradients are switched off where nodes are emitted now.
        passing: what gradients pass although it was made while they were switched off.
    """

    def __init__(self, file: str, archived: Archived) -> None:
        self.file = file
        self.archived = archived
        self.at = ""
        self.program = Program()
        self.absent = Absent()
        self.notes: list[str] = []
        self.sources = Pt2Sources(file)
        self.names: dict[Variable, str] = {}
        self.buffers: dict[str, tuple[HeldTensor, Variable]] = {}
        self.blind = False
        self.passing: set[Variable] = set()
        self.nodes = 0
        self.depth = 0

    def fail(self, came: str, hint: str | None = None) -> NoReturn:
        raise FileFormatError(f"{self.file}{self.at}", EXPECTED, came, hint=hint)

    def note(self, text: str) -> None:
        """Tell *text*, once."""
        if text not in self.notes:
            self.notes.append(text)

    # -- the whole program --------------------------------------------------------------------------------------------

    def read(self) -> list[Variable]:
        """Build the program; give the variables that it computes."""
        try:
            module = self.archived.program["graph_module"]
            graph, signature = module["graph"], module["signature"]
            scope: Scope = {}
            with default.program_guard(self.program, Program()):
                self.inputs(graph, signature["input_specs"], scope)
                self.walk(graph, scope)
                results = self.outputs(signature["output_specs"], scope)
        except FileFormatError:
            raise
        except GradtoolError as error:
            self.fail(error.message.removesuffix("."), error.hint)
        except (Unsound, Missing) as error:
            self.fail(str(error))
        except RecursionError:
            self.fail("graphs nested too deeply")
        except _WRONG as error:
            self.fail(f"its graph or its signature is damaged: {type(error).__name__} {error}")
        rename(self.program, self.names)
        return results

    def inputs(self, graph: Any, specs: Any, scope: Scope) -> None:
        """Declare parameters, buffers, constants, and what is fed."""
        metas = graph["tensor_values"]
        readers = self.readers(graph)
        for spec in specs:
            ((kind, entry),) = spec.items()
            if kind == "constant_input":
                scope[entry["name"]] = _literal(entry["value"])
                continue
            if kind == "user_input":
                self.fed(entry["arg"], metas, scope)
                continue
            if kind not in _KEPT:
                raise Missing(f"an input of the kind {kind}")
            name, own = entry["arg"]["name"], entry[_KEPT[kind]]
            self.at = f", {kind} {own!r}"
            meta = metas[name]
            trains = self.archived.trains.get(own, bool(meta.get("requires_grad")))
            v = self.make_held(own, self.meta(meta), kind == "parameter", trains, readers.get(name, ()))
            held = HeldTensor(v)
            scope[name] = held
            if kind == "buffer":
                self.buffers[own] = held, v
            self.at = ""

    def readers(self, graph: Any) -> dict[str, Location]:
        """Return the place where each name is read first."""
        first: dict[str, Location] = {}
        for line, proto in enumerate(graph["nodes"], 1):
            location: Location | None = None
            for entry in proto["inputs"]:
                argument = entry["arg"]
                listed = argument.get("as_tensors") or [argument.get("as_tensor")]
                for tensor in listed:
                    if isinstance(tensor, dict) and tensor["name"] not in first:
                        location = location or self.location(proto, line)
                        first[tensor["name"]] = location
        return first

    def location(self, proto: Any, line: int) -> Location:
        """Return the origin of the node that is number *line* of the file."""
        return self.sources.location(proto["target"], ", ".join(_names(proto["outputs"])), proto["metadata"], line)

    def make_held(self, name: str, meta: Meta, learnt: bool, trains: bool, loc: Location) -> Variable:
        """A variable that lives in the scope: a parameter, or a buffer."""
        block = self.program.global_block()
        if not name or name in block.vars:
            raise Unsound(f"{name!r} comes twice")
        spec = TensorSpec(meta.shape, meta.kind)
        v: Variable
        if learnt:
            v = Parameter(block, name, spec, trainable=trains, loc=loc)
        else:
            v = Variable(block, name, spec, persistable=True, stop_gradient=True)
        block.vars[name] = v
        array = self.archived.values.get(name)
        if array is None:
            if name not in self.archived.empty:
                raise Unsound("its elements are not in the archive")
            self.note("the file holds shapes without elements: nothing that needs values is answered")
        elif array.shape != tuple(meta.shape) or array.dtype != dtype(meta.kind).numpy:
            raise Unsound(f"its elements are of shape {list(array.shape)}, and {list(meta.shape)} is expected")
        else:
            global_scope().values[name] = np.ascontiguousarray(array).reshape(array.shape)
        return v

    def fed(self, argument: Any, metas: Any, scope: Scope) -> None:
        """An input of the module."""
        ((kind, entry),) = argument.items()
        if kind != "as_tensor":
            raise Missing(f"an input that is fed and no tensor ({kind.removeprefix('as_')})")
        name = entry["name"]
        self.at = f", input {name!r}"
        meta = self.meta(metas[name])
        block = self.program.global_block()
        if not name or name in block.vars:
            raise Unsound(f"{name!r} comes twice")
        v = Variable(block, name, TensorSpec(meta.shape, meta.kind), is_data=True, stop_gradient=True)
        block.vars[name] = v
        scope[name] = HeldTensor(v)
        self.at = ""

    def outputs(self, specs: Any, scope: Scope) -> list[Variable]:
        """Return the outputs of the program; buffers that the module changes are assigned to."""
        results: list[Variable] = []
        losses: list[Variable] = []
        for spec in specs:
            ((kind, entry),) = spec.items()
            if kind in ("user_output", "loss_output"):
                argument = entry["arg"] if kind == "user_output" else {"as_tensor": entry["arg"]}
                value = plain(self.argument(argument, scope))
                (losses if kind == "loss_output" else results).extend([value] if is_tensor(value) else [])
            elif kind == "buffer_mutation":
                held, _ = self.buffers[entry["buffer_name"]]
                held.write(plain(self.tensor(entry["arg"]["name"], scope)))
            elif kind == "user_input_mutation":
                self.note(f"the module writes into its input {entry['user_input_name']}; here that is not changed")
            elif kind.startswith("gradient_to"):
                self.note("the gradients that the file computes itself are ordinary operators here")
        self.assign_buffers()
        return losses or results

    def assign_buffers(self) -> None:
        """Write what became of the buffers where they live."""
        for held, v in self.buffers.values():
            now = held.now()
            if now is not v:
                if now.shape != v.shape:
                    raise Unsound(f"{v.name!r} of shape {list(v.shape)} is given a value of shape {list(now.shape)}")
                paddle.assign(cast(now, kind_of(v)), output=v)

    # -- nodes --------------------------------------------------------------------------------------------------------

    def walk(self, graph: Any, scope: Scope) -> None:
        """Emit the nodes of a graph in their order; what they make goes to *scope*."""
        self.depth += 1
        if self.depth > _DEEPEST:
            raise Unsound(f"more than {_DEEPEST} graphs inside each other")
        for proto in graph["nodes"]:
            self.nodes += 1
            if self.nodes > _MOST_NODES:
                self.fail(f"more than {_MOST_NODES} nodes")
            before = self.at
            self.at = f", node {self.nodes} ({shorten_value(proto['target'])})"
            stood = source.pretend(self.location(proto, self.nodes))
            try:
                with state.entered_scope(self.sources.scope(proto["metadata"])):
                    self.node(proto, graph, scope)
            finally:
                source.pretend(stood)
            self.at = before
        self.depth -= 1

    def node(self, proto: Any, graph: Any, scope: Scope) -> None:
        """Emit one node."""
        kind, _, overload = _TARGET.match(proto["target"])[1].rpartition(".")  # type: ignore[index]
        if kind == "_operator" or not kind.count("."):
            kind, overload = (kind, overload) if kind not in ("_operator", "") else (f"{kind}.{overload}", "")
        named, positional = {}, []
        for entry in proto["inputs"]:
            value = self.argument(entry["arg"], scope)
            if entry["name"]:
                named[entry["name"]] = value
            else:
                positional.append(value)
        metas = graph["tensor_values"]
        names = _names(proto["outputs"])
        outputs = [self.meta(metas[n]) if n in metas else None for n in names]
        node = Pt2Node(self, kind, named, positional, outputs, scope)
        plain([*named.values(), *positional])  # views are taken anew here, and stay if the row takes nothing
        block = default.current_block()
        emitted = len(block.ops)
        try:
            made = self.emit(node, overload)
        except Unsound as error:
            self.fail(str(error))
        except FileFormatError:
            raise
        except RecursionError:
            self.fail("graphs nested too deeply")
        except (Missing, GradtoolError, *_WRONG) as error:  # a kernel here takes less than PyTorch's
            self.take_back(block, emitted)
            told = error.message.removesuffix(".") if isinstance(error, GradtoolError) else str(error)
            made = self.stand_in(proto, node, told)
        if len(made) < len(names):
            self.fail(f"it has {len(names)} outputs, and {kind} makes {len(made)}")
        for name, value in zip(names, made, strict=False):
            scope[name] = value
            self.call(name, value)

    def take_back(self, block: Block, count: int) -> None:
        """Remove what was emitted behind the first *count* operators: what it was for is lacking."""
        for v in (v for op in block.ops[count:] for v in op.output_variables()):
            block.vars.pop(v.name, None)
            self.names.pop(v, None)
        del block.ops[count:]

    def emit(self, node: Pt2Node, overload: str) -> list[Any]:
        """Return the results of a node, for each of its outputs."""
        function = rows.lookup(node.kind, overload)
        if function is None and node.kind.endswith("_") and not node.kind.endswith("__"):
            function = rows.lookup(node.kind[:-1], overload)
            if function is not None:
                node.kind = node.kind[:-1]
                if node.kind in rows.VIEWS and node.kind != "aten.detach":
                    raise Missing("a change of its shape in place")
                return [self.write(node, function)]
        if function is None:
            raise Missing("")
        made = function(node)
        listed = list(made) if isinstance(made, (tuple, list)) else [made]
        metas = [*node.outputs, *[None] * len(listed)]
        checked = [self.check(node, value, meta) for value, meta in zip(listed, metas, strict=False)]
        if node.kind in rows.VIEWS:
            self.look(node, function, checked)
        return checked

    def write(self, node: Pt2Node, function: rows.Row) -> Any:
        """Return the result of an operator that writes into its operand: that, with other elements."""
        held = node.held("self")
        if held is None:
            raise Unsound(f"{node.kind} writes into what is no tensor")
        before = held.now()
        made = function(node)
        if not is_tensor(made) or list(made.shape) != list(before.shape):
            made = paddle.expand(made, before.shape) if is_tensor(made) else paddle.full_like(before, made)
        made = cast(made, kind_of(before))
        if self.blind and not before.stop_gradient:
            made = write_behind_autograd(before, made)
            self.passing.add(made)
        held.write(made)
        return held

    def look(self, node: Pt2Node, function: rows.Row, made: Sequence[Any]) -> None:
        """Have what a node makes be views of its operand."""
        base = node.held("self")
        back = rows.VIEWS[node.kind]
        for i, held in enumerate(made):
            if base is None or not isinstance(held, HeldTensor) or held is base:
                continue

            def again(i: int = i) -> Any:
                value = function(node)
                return value[i] if isinstance(value, (tuple, list)) else value

            look_into = None
            if back is not None and len(made) == 1:

                def look_into(whole: Any, part: Any) -> Any:
                    return back(node, whole, part)

            held.look_at(base, again, look_into)

    def check(self, node: Pt2Node, made: Any, meta: Meta | None) -> Any:
        """Return the result of a row, checked against the file."""
        if made is None or isinstance(made, HeldTensor) or not is_tensor(made):
            return made
        if not made.dtype.is_floating and not made.dtype.is_complex and made.op is not None:
            made.stop_gradient = True  # whole numbers have no gradient, and a cast to them ends it
        own = next((a for a in node.arguments.values() if isinstance(a, HeldTensor) and a.now() is made), None)
        if meta is None:
            return own or HeldTensor(made)
        shape = [int(d) for d in made.shape]
        if len(shape) != len(meta.shape) or any(
            a != b for a, b in zip(shape, meta.shape, strict=True) if a >= 0 and b >= 0
        ):
            raise Unsound(f"it makes a tensor of shape {shape}, and the file says {list(meta.shape)}")
        if kind_of(made) != meta.kind:
            return HeldTensor(paddle.cast(made, meta.kind))
        return own or HeldTensor(made)

    def call(self, name: str, value: Any) -> None:
        """Have what *value* stands for be called *name*."""
        v = value.variable if isinstance(value, HeldTensor) else None
        if isinstance(v, Variable) and v.op is not None and v not in self.names and name:
            self.names[v] = name

    def stand_in(self, proto: Any, node: Pt2Node, why: str) -> list[Any]:
        """Append an operator that stands for one that gradtool lacks."""
        kind = proto["target"].removeprefix("torch.ops.")
        place = source.short(source.here())
        self.absent.add(f"{kind} at {place}" if place else kind, why)
        read = [v for value in (*node.arguments.values(), *node.positional) for v in _tensors(value)]
        op = StandIn(kind, ["X"], ["Out"], {}, self.absent)
        block = default.current_block()
        outputs = []
        for meta in node.outputs:
            spec = TensorSpec(meta.shape, meta.kind) if meta is not None else TensorSpec((-1,), "float32")
            v = Variable(block, self.program.names(f"{kind}.tmp"), spec)
            block.vars[v.name] = v
            v.stop_gradient = not v.dtype.is_floating or all(r.stop_gradient for r in read)
            outputs.append(v)
        names = {"X": [v.name for v in dict.fromkeys(read)]}, {"Out": [v.name for v in outputs]}
        block._append(assemble(block, op, *names, {}, loc=source.here(), scope=state.name_scope()))
        return [HeldTensor(v) for v in outputs]

    # -- what names and arguments stand for ---------------------------------------------------------------------------

    def tensor(self, name: Any, scope: Scope) -> Any:
        if name not in scope:
            raise Unsound(f"it reads {shorten_value(name)}, which nobody makes before it")
        return scope[name]

    def argument(self, argument: Any, scope: Scope) -> Any:
        """Return the value of an argument."""
        ((kind, value),) = argument.items()
        if kind == "as_tensor":
            return self.tensor(value["name"], scope)
        if kind == "as_tensors":
            return [self.tensor(entry["name"], scope) for entry in value]
        if kind in ("as_optional_tensors", "as_optional_tensor"):
            entries = [
                self.tensor(e["as_tensor"]["name"], scope) if "as_tensor" in e else None
                for e in (value if isinstance(value, list) else [value])
            ]
            return entries if isinstance(value, list) else entries[0]
        if kind == "as_nested_tensors":
            return [[self.tensor(entry["name"], scope) for entry in entries] for entries in value]
        if kind in ("as_sym_int", "as_sym_float", "as_sym_bool"):
            return self.symbol(value, scope)
        if kind in ("as_sym_ints", "as_sym_floats", "as_sym_bools"):
            return [self.symbol(entry, scope) for entry in value]
        if kind == "as_scalar_type":
            return self.kind(value)
        if kind == "as_graph":
            return value["graph"]
        return _literal(argument)

    def symbol(self, entry: Any, scope: Scope) -> Any:
        """A number that is known, or told when the program is fed."""
        return self.tensor(entry["as_name"], scope) if "as_name" in entry else _literal(entry)

    def kind(self, number: Any) -> str:
        name = kind_name(number)
        if name is None:
            raise Unsound(f"the element type {kind_told(number)}, which gradtool has not")
        return name

    def meta(self, entry: Any) -> Meta:
        """Return the file's facts about a tensor."""
        shape = []
        for size in entry["sizes"]:
            told = size.get("as_int", -1)
            if type(told) is not int or not -1 <= told <= _LONGEST_AXIS:
                raise Unsound(f"a size of {shorten_value(told)}")
            shape.append(told)
        if len(shape) > _MOST_AXES:
            raise Unsound(f"a tensor of {len(shape)} axes")
        return Meta(tuple(shape), self.kind(entry["dtype"]))


_KEPT: Final = {"parameter": "parameter_name", "buffer": "buffer_name", "tensor_constant": "tensor_constant_name"}
"""Kinds of inputs that live in the scope, and where each says its name."""

_ENDLESS: Final = {"Infinity": np.inf, "-Infinity": -np.inf, "NaN": np.nan}


def _literal(argument: Any) -> Any:
    """A number, a text, or a list of them."""
    ((kind, value),) = argument.items()
    if kind == "as_none":
        return None
    if kind in ("as_int", "as_ints"):
        for number in value if isinstance(value, list) else [value]:
            if type(number) is not int or not -_FARTHEST <= number < _FARTHEST:
                raise Unsound(f"the number {shorten_value(number)}")
        return value
    if kind == "as_float":
        return float(_ENDLESS.get(value, value)) if isinstance(value, str) else float(value)
    if kind == "as_floats":
        return [_literal({"as_float": number}) for number in value]
    if kind == "as_complex":
        return complex(float(value["real"]), float(value["imag"]))
    return value


def _names(outputs: Any) -> list[str]:
    """Return the names of a node's outputs."""
    names: list[str] = []
    for output in outputs:
        ((kind, value),) = output.items()
        if kind in ("as_tensors", "as_sym_ints"):
            names += [entry.get("name", entry.get("as_name", "")) for entry in value]
        elif kind != "as_none" and isinstance(value, dict):
            names.append(value["as_name"] if "as_name" in value else value.get("name", ""))
        else:
            names.append("")
    return names


def _tensors(value: Any) -> list[Variable]:
    """The variables in an argument."""
    values = value if isinstance(value, list) else [value]
    return [v.now() for v in values if isinstance(v, HeldTensor)]
