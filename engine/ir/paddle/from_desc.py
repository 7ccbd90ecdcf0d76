"""A program from the description that Paddle itself writes: ``.pdmodel``, ``__model__``, ``serialize_to_string``.

Operators are made by looking up their definitions. One that gradtool lacks, or that has slots or attributes which its
definition has not, becomes a stand-in (``ops/stand_in.py``): what does not run can still be drawn and differentiated.
The operators ``feed`` and ``fetch`` are no operators here: they say what is fed and fetched.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple, NoReturn

from ...core import names
from ...core.collector import pause_gc
from ...core.errors import FileFormatError, GradtoolError, OperatorError
from ...core.source import Location, short
from ...core.spec import DTYPES, UNKNOWN, TensorSpec
from ...files import messages
from ...ops import compat, registry
from ...ops.opdef import OpDef
from ...ops.stand_in import Absent, StandIn
from .. import build, parse, roles
from ..assemble import assemble, check_blocks, definition, new_block
from ..checking import check_program
from ..operator import Operator
from ..program import Block, Program
from ..variable import ARRAY, DENSE, SELECTED_ROWS, STEP_SCOPES, Parameter, Variable
from ..verify import MISFITS, verify_read
from . import attributes
from .attributes import text
from .callstacks import Callstacks
from .operator_versions import renew
from .pairs import forward_type, pair
from .registry_facts import own_slots

EXPECTED: Final = "a program as Paddle writes it"

KINDS: Final = {
    7: DENSE,
    8: SELECTED_ROWS,
    9: "FEED_MINIBATCH",
    10: "FETCH_LIST",
    11: STEP_SCOPES,
    13: ARRAY,
    15: "READER",
    17: "RAW",
}
"""Paddle's kinds of variables by number."""

_DTYPES: Final = {d.code: d for d in DTYPES}
_DEEPEST: Final = 64
_ZERO_DIMENSIONS: Final = 2005000
"""The version in which tensors without dimensions came: before, what sums or means computed were lists of one."""


class DescribedProgram(NamedTuple):
    """A program of Paddle's.

    Attributes:
        feeds, fetches: names of the variables that are fed and fetched, in order, if the program says so.
        absent: the operators that gradtool lacks.
        version: of the Paddle that wrote it, as a number; 0 where it is not said.
    """

    program: Program
    feeds: list[str]
    fetches: list[str]
    absent: Absent
    version: int


def is_description(start: bytes) -> bool:
    """Return whether a file that begins so (32 bytes and more) is a program of Paddle's: its first field is block 0."""
    if start[:1] != b"\n":
        return False
    at = 1
    while at < min(len(start), 11) and start[at] & 0x80:
        at += 1
    return start[at + 1 :].startswith(b"\x08\x00\x10")


def from_desc(data: bytes, file: str = "the program") -> DescribedProgram:
    """The program that *data*, a protobuf message ``ProgramDesc``, describes.

    Args:
        file: which file it came from, for messages.

    Raises:
        FileFormatError: it is none, or one that cannot exist (a ValueError).
        UnsupportedError: the package protobuf is not installed.
    """
    message = messages.parse("Program", data, file, EXPECTED)
    with pause_gc():
        return _DescReader(file).read(message)


class _DescReader:
    def __init__(self, file: str) -> None:
        self.file = file
        self.at = ""
        """The part that is being read, for messages."""
        self.program = Program()
        self.absent = Absent()
        self.stacks = Callstacks()
        self.version = 0
        self.feeds: dict[int, str] = {}
        self.fetches: dict[int, str] = {}
        self.fed: set[str] = set()
        self.unsaid: set[Variable] = set()
        """Variables without a shape: scalars, and what Paddle's own rules for shapes pass over."""

    def fail(self, came: str, hint: str | None = None) -> NoReturn:
        raise FileFormatError(f"{self.file}{self.at}", EXPECTED, came, hint=hint)

    def read(self, message: Any) -> DescribedProgram:
        program = self.program
        if not message.blocks:
            self.fail("it has no blocks")
        program.blocks = []
        self.version = message.version.version
        try:
            for i, block in enumerate(message.blocks):
                self.at = f", block {i}"
                if block.idx != i:
                    self.fail(f"its number is {block.idx}")
                forward = block.forward_block_idx if block.HasField("forward_block_idx") else -1
                new_block(program, block.parent_idx, forward, -1)
            self.variables(message)
            self.operators(message)
            self.at = ""
            return self.finish()
        except FileFormatError:
            raise
        except GradtoolError as error:
            self.fail(error.message.removesuffix("."), error.hint)

    def finish(self) -> DescribedProgram:
        """Complete the program with what follows from all of it."""
        program = self.program
        for block in program.blocks:
            if block.forward_block_idx >= 0:
                program.blocks[block.forward_block_idx].backward_block_idx = block.idx
        check_blocks(program)
        parse.complete(program)
        for name in self.fed:
            program.global_block().vars[name].is_data = True
        if self.feeds:  # operators say what is fed: outputs that were pruned are neither marked nor written
            for v in program.global_block().vars.values():
                v.is_data = v.name in self.feeds.values()
        pair(program)
        for v in self.unsaid:
            of = v.block._find_var_recursive(names.forward(v.name)) if names.GRAD in v.name else None
            if of is not None and of in self.unsaid:
                v.spec = TensorSpec(of.shape, v.dtype)
        if self.feeds:
            _drop_unused(program)
        _place_parameters(program)
        verify_read(program)
        check_program(program, "loading")
        feeds, fetches = ([places[n] for n in sorted(places)] for places in (self.feeds, self.fetches))
        return DescribedProgram(program, feeds, fetches, self.absent, self.version)

    # -- variables ------------------------------------------------------------------------------------------------

    def variables(self, message: Any) -> None:
        """Declare the variables of all blocks, in the order in which operators name them."""
        says_parameters = any(v.is_parameter for block in message.blocks for v in block.vars)
        likely = set() if says_parameters else _likely_parameters(message)
        for home, block in zip(self.program.blocks, message.blocks, strict=True):
            self.at = f", block {home.idx}"
            entries = {v.name: v for v in block.vars}
            if len(entries) < len(block.vars):
                self.fail("a variable is declared twice")
            ordered = [n for n in dict.fromkeys(_names(block)) if n in entries]
            for name in dict.fromkeys([*ordered, *entries]):
                self.variable(home, entries[name], name in likely and home.idx == 0)

    def variable(self, block: Block, entry: Any, likely: bool) -> None:
        name = text(entry.name)
        self.at = f", block {block.idx}, variable {name!r}"
        kind = KINDS.get(entry.type.type, "RAW")
        if kind in ("FEED_MINIBATCH", "FETCH_LIST"):
            return
        tensor = {SELECTED_ROWS: entry.type.selected_rows, ARRAY: entry.type.array.tensor}.get(
            kind, entry.type.dense.tensor
        )
        dtype = _DTYPES.get(tensor.data_type)
        if dtype is None:  # strings, numbers of eight bits: whoever computes with them is a stand-in
            kind, dtype = "RAW", _DTYPES[0]
        if len(tensor.dims) > _DEEPEST:
            self.fail(f"its shape is {list(tensor.dims)[:_DEEPEST]}")
        # Before Paddle 2.0 products of sizes are written with those that are not known: -1 times 4 is -4.
        spec = TensorSpec([max(d, UNKNOWN) for d in tensor.dims], dtype)
        v: Variable
        if entry.is_parameter or likely:
            v = Parameter(block, name, spec, trainable=not entry.stop_gradient)
            v.kind = kind
        else:
            v = Variable(block, name, spec, kind=kind)
        v.persistable = entry.persistable
        v.stop_gradient = entry.stop_gradient
        block.vars[name] = v
        if not entry.persistable and list(tensor.dims) in ([], [1] if self.version < _ZERO_DIMENSIONS else []):
            self.unsaid.add(v)
        if entry.need_check_feed and block.idx == 0:
            self.fed.add(name)

    # -- operators ------------------------------------------------------------------------------------------------

    def operators(self, message: Any) -> None:
        """Read the operators of all blocks; what is fed and fetched is noted."""
        for home, block in zip(self.program.blocks, message.blocks, strict=True):
            for i, entry in enumerate(block.ops):
                self.at = f", block {home.idx}, operator {i}"
                type_ = text(entry.type)
                if type_ in ("feed", "fetch"):
                    self.exchange(home, type_, entry)
                else:
                    home._append(self.operator(home, type_, entry))

    def exchange(self, home: Block, type_: str, entry: Any) -> None:
        """Note what an operator ``feed`` or ``fetch`` says."""
        slots = entry.outputs if type_ == "feed" else entry.inputs
        listed = [text(n) for slot in slots for n in slot.arguments]
        if len(listed) != 1 or listed[0] not in home.vars:
            self.fail(f"a {type_} operator of {len(listed)} variables, or of an unknown one")
        column = next((a.i for a in entry.attrs if a.name == b"col"), 0)
        (self.feeds if type_ == "feed" else self.fetches)[column] = listed[0]
        if type_ == "feed" and home.idx == 0:
            self.fed.add(listed[0])

    def operator(self, home: Block, type_: str, entry: Any) -> Operator:
        inputs, outputs = self.slots(entry.inputs), self.slots(entry.outputs)
        attrs, common, why = self.attrs(entry)
        loc = self.stacks.location(common.get("op_callstack", ()))
        role_var = common.get("op_role_var", ())
        if len(role_var) % 2:
            self.fail(f"op_role_var does not go two by two: {list(role_var)}")
        settings: dict[str, Any] = {
            "role": common.get("op_role", 0),
            "role_var": _present_pairs(home, role_var),
            "scope": common.get("op_namescope", "/"),
            "loc": loc,
        }
        if settings["role"] & ~roles.ALL:
            self.fail(f"the unknown role {settings['role']}")
        if type_ in ("mean", "mean_grad") and self.has_one_element(home, inputs, outputs):
            attrs["rank"] = 1
        type_, inputs, outputs, attrs = renew(type_, inputs, outputs, attrs)
        type_, inputs, outputs = own_slots(type_, inputs, outputs)
        self.declare_gradients(home, inputs, outputs)
        if why is None:
            try:
                op = definition(type_)
                taken = attributes.own(op, attrs)
                inputs = _operand_for_result(home, op, inputs)
                ins, outs = _present_slots(op, op.inputs, inputs), _present_slots(op, op.outputs, outputs)
                made = assemble(home, op, ins, self.complete_outputs(home, op, outs), taken, **settings)
                self.specify(made)
                return made
            except OperatorError as error:
                why = _why(error)
        else:
            why = why if registry.find(type_) is not None else ""
        stand_in = self.stand_in(type_, inputs, outputs, attrs, why, loc)
        return assemble(home, stand_in, inputs, outputs, attrs, **settings)

    def declare_gradients(self, home: Block, *slots: Mapping[str, list[str]]) -> None:
        """Declare gradients that Paddle before 2.0 made only when it ran (those of ``recurrent``)."""
        for name in (n for listed in slots for held in listed.values() for n in held):
            if names.GRAD not in name or home._find_var_recursive(name) is not None:
                continue
            of = home._find_var_recursive(names.forward(name))
            if of is not None:
                home.vars[name] = Variable(home, name, of.spec)

    def has_one_element(self, home: Block, inputs: Mapping[str, list[str]], outputs: Mapping[str, list[str]]) -> bool:
        """Return whether a mean is a list of one number, as before Paddle 2.5, which had no others."""
        found = [home._find_var_recursive(n) for n in (*outputs.get("Out", ()), *inputs.get("Out@GRAD", ()))]
        return any(v is not None and v.shape == (1,) for v in found)

    def complete_outputs(self, home: Block, op: OpDef, outputs: dict[str, list[str]]) -> dict[str, list[str]]:
        """*outputs* with those that files for inference leave out, as the mask of a dropout."""
        if op.forward is not None or not outputs:
            return outputs
        missing = [s.name for s in op.outputs if not (s.optional or s.many or outputs.get(s.name))]
        first = next((n for held in outputs.values() for n in held), None)
        if first is None or not missing:
            return outputs
        for slot in missing:
            name = f"{first}@{slot}"
            if home._find_var_recursive(name) is None:
                home.vars[name] = Variable(home, name, TensorSpec((), "float32"), stop_gradient=True)
                self.unsaid.add(home.vars[name])
        return {**outputs, **{slot: [f"{first}@{slot}"] for slot in missing}}

    def specify(self, op: Operator) -> None:
        """Say what the outputs of *op* are that the file leaves without a shape."""
        places = (op.op.output_index.get(slot) for slot in _FORMERLY.get(op.type, ("XShape",)))
        held = (op.outputs[place] for place in places if place is not None)
        self.unsaid.update(v for v in held if isinstance(v, Variable))
        unsaid = [v for v in op.output_variables() if v in self.unsaid]
        if not unsaid or not op.op.infers or op.op.forward is not None:
            return
        try:
            specs = build.infer(op.op, op.inputs, op.attrs)
        except MISFITS:
            return  # what is wrong is told when the program is looked through
        for v, spec in zip(op.outputs, specs, strict=False):
            if isinstance(v, Variable) and v in self.unsaid and isinstance(spec, TensorSpec):
                v.spec = spec

    def stand_in(
        self,
        type_: str,
        inputs: Mapping[str, list[str]],
        outputs: Mapping[str, list[str]],
        attrs: Mapping[str, Any],
        why: str,
        loc: Location,
    ) -> StandIn:
        place = short(loc)
        told = f"{type_} at {place}" if place else type_
        self.absent.add(told, why)
        of = forward_type(type_)
        forward = StandIn(of, inputs, (), {}, self.absent) if of is not None else None
        return StandIn(type_, inputs, outputs, attrs, self.absent, forward)

    def slots(self, entries: Any) -> dict[str, list[str]]:
        slots: dict[str, list[str]] = {}
        for entry in entries:
            name = text(entry.parameter)
            if name in slots:
                self.fail(f"the slot {name!r} comes twice")
            slots[name] = [text(argument) for argument in entry.arguments]
        return slots

    def attrs(self, entry: Any) -> tuple[dict[str, Any], dict[str, Any], str | None]:
        """The operator's attributes, those that every operator has, and why one of them means nothing here."""
        own: dict[str, Any] = {}
        common: dict[str, Any] = {}
        why: str | None = None
        for attr in entry.attrs:
            name = text(attr.name)
            try:
                value = attributes.value_of(attr, self.program)
            except OperatorError as error:
                why = f"{name}: {error.message.removesuffix('.')}"
                continue
            held = common if name in _COMMON else own
            if name in held and held[name] != value:  # Paddle 3 writes some twice
                self.fail(f"the attribute {name!r} comes twice, with other values")
            held[name] = value
        for name, kind in _COMMON.items():
            value = common.get(name, kind())
            entries = value if kind is tuple else ()
            if not isinstance(value, kind) or not all(isinstance(e, str) for e in entries):
                self.fail(f"{name} is {value!r}")
        return own, common, why


_FORMERLY: Final[Mapping[str, Sequence[str]]] = {"layer_norm": ("Mean", "Variance")}
"""By operator, what only its gradient reads, of other shapes in former versions of Paddle; else ``XShape``."""


def _drop_unused(program: Program) -> None:
    """Leave out what a program for inference declares and no operator names: outputs that were pruned."""
    named = {v for block in program.blocks for op in block.ops for v in (*op.input_variables(), *op.output_variables())}
    block = program.global_block()
    for v in [*block.vars.values()]:
        if v not in named and not v.persistable and not v.is_data:
            del block.vars[v.name]


def _place_parameters(program: Program) -> None:
    """Say of parameters that they were made where the first operator reads them: that is the layer's line."""
    for block in program.blocks:
        for op in block.ops:
            for v in op.input_variables():
                if v.is_parameter and not v.loc:
                    v.loc = op.loc


_COMMON: Final[dict[str, type]] = {
    "op_role": int,
    "op_role_var": tuple,
    "op_namescope": str,
    "op_callstack": tuple,
    "op_device": str,
    "with_quant_attr": bool,
}
"""Attributes that every operator has, and the types of their values."""


def _why(error: OperatorError) -> str:
    """Why an operator cannot be one of gradtool's; nothing where there is none of that type."""
    return "" if "has not been registered" in error.message else error.message.removesuffix(".")


def _present_slots(op: OpDef, slots: Any, listed: Mapping[str, list[str]]) -> dict[str, list[str]]:
    """Those of the *listed* slots that *op* has; empty ones and those of Paddle's kernels alone are left out."""
    names_of = {slot.name for slot in slots}
    ours = op.forward.type if op.forward is not None else op.type
    beside = compat.KEPT.get(ours, ())
    return {name: held for name, held in listed.items() if name in names_of or (held and name not in beside)}


def _operand_for_result(block: Block, op: OpDef, inputs: dict[str, list[str]]) -> dict[str, list[str]]:
    """*inputs* with the operand of the forward operator in the place of its result, which gradients read before 2.0."""
    names_of = {slot.name for slot in op.inputs}
    if op.forward is None or "Out" not in inputs or "Out" in names_of or "X" not in names_of or "X" in inputs:
        return inputs
    out = block._find_var_recursive(inputs["Out"][0]) if inputs["Out"] else None
    if out is None or out.op is None or out.op.op is not op.forward:
        return inputs
    return {"X": out.op.input("X"), **{slot: held for slot, held in inputs.items() if slot != "Out"}}


def _present_pairs(block: Block, role_var: tuple[str, ...]) -> tuple[str, ...]:
    """The pairs of which the program has both: what was pruned may still be named."""
    pairs = zip(role_var[::2], role_var[1::2], strict=True)
    return tuple(n for p in pairs if all(block._find_var_recursive(v) is not None for v in p) for n in p)


def _names(block: Any) -> Iterator[bytes]:
    """The names that the operators of a block list, in order."""
    for op in block.ops:
        if op.type in (b"feed", b"fetch"):
            continue
        for slot in (*op.inputs, *op.outputs):
            yield from slot.arguments


def _likely_parameters(message: Any) -> set[str]:
    """Return the variables that Paddle before 2.0 meant as parameters, which its files do not say.

    They live in the scope, have known shapes and real numbers, and forward operators read and do not write them.
    """
    read: set[bytes] = set()
    written: set[bytes] = set()
    for block in message.blocks:
        for op in block.ops:
            role = next((a.i for a in op.attrs if a.name == b"op_role"), 0)
            if roles.is_forward(role) and op.type not in (b"feed", b"fetch"):
                read.update(n for slot in op.inputs for n in slot.arguments)
                written.update(n for slot in op.outputs for n in slot.arguments)
    likely = set()
    for v in message.blocks[0].vars:
        tensor = v.type.dense.tensor
        dtype = _DTYPES.get(tensor.data_type)
        real = v.type.type == 7 and dtype is not None and dtype.is_floating and all(d >= 0 for d in tensor.dims)
        if v.persistable and real and v.name in read - written:
            likely.add(v.name)
    return likely
