"""A program from the JSON of Paddle 3's new IR: what ``jit.save`` and ``save_inference_model`` write as ``NAME.json``.

Values there have numbers and no names: parameters and inputs keep theirs, the others are called after the operators
that make them. Operators of the dialect ``pd_op`` are looked up in a table (``pd_ops.py``): what each is called here,
which slots its operands are, which of them are constants that stand for attributes. An operator that is not in the
table becomes a stand-in, as in ``from_desc.py``. Those that hold regions are in ``pir_regions.py``, those that take
arrays of tensors in ``pir_arrays.py``.
A training program's backward part is left out (``pir_backward.py``).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

from ...core.collector import pause_gc
from ...core.errors import FileFormatError, GradtoolError, OperatorError
from ...core.spec import TensorSpec
from ...files import jsontext
from ...files.jsontext import shorten_value
from ...ops import registry
from ...ops.opdef import OpDef
from ...ops.stand_in import Absent, StandIn
from .. import build, roles
from ..assemble import assemble
from ..checking import check_program
from ..operator import Operator
from ..program import Block, Program
from ..variable import ARRAY, DENSE, Parameter, Variable
from ..verify import MISFITS, compatible, verify_read
from . import attributes
from .from_desc import DescribedProgram
from .pd_ops import TABLE, PdOperator
from .pir_arrays import ARRAYS, open_written
from .pir_backward import backward_part
from .pir_entries import UPDATED, Entries, kind_of
from .pir_regions import REGIONS, keep_before

MAGIC: Final = b'"magic":"pir"'
NEWEST: Final = 4
"""The version of the form in Paddle 3.3; newer ones may name something anew."""

_LEFT_OUT: Final = frozenset(
    {"place", "struct_name", "stop_gradient", "persistable", "op_callstack", "op_role", "name"}
)


_MISTOLD: Final = frozenset({"matrix_rank", "slogdeterminant"})
"""Operators of which the file says what they take, and not what Paddle's kernels make."""

_UNREAD: Final = {"pylayer": "its backward is Python, which no file holds"}
"""Operators with regions, and why they are not read."""


class PirValue(NamedTuple):
    """Meaning of a number of the file: a variable, several of them, or a constant next to its variable."""

    variable: Variable | None = None
    many: tuple[Any, ...] | None = None
    constant: Any = None


def is_pir(start: bytes) -> bool:
    """Return whether a file that begins so (64 bytes) is such a program."""
    return start.lstrip()[:1] == b"{" and MAGIC in b"".join(start.split())


def from_pir(data: bytes, file: str = "the program") -> DescribedProgram:
    """The program that *data* describes.

    Raises:
        FileFormatError: it is none, of a newer form, or one that cannot exist (a ValueError).
    """
    with pause_gc():
        return PirReader(file).read(jsontext.read(data, file))


class PirReader(Entries):
    """Makes a program of what a file says.

    Attributes:
        values: what the numbers of the file stand for.
        seeds: numbers of values whose gradients the backward part begins with.
        depth: how many regions stand around what is read.
        untold: variables of which the file says a wrong shape, because Paddle's rules pass over what makes them.
    """

    def __init__(self, file: str) -> None:
        super().__init__(file)
        self.program = Program()
        self.absent = Absent()
        self.values: dict[int, PirValue] = {}
        self.seeds: list[int] = []
        self.feeds: list[str] = []
        self.fetches: dict[int, str] = {}
        self.constants: dict[int, Any] = {}
        self.depth = 0
        self.untold: set[Variable] = set()

    def read(self, content: Any) -> DescribedProgram:
        head = self.take(content, "base_code", dict)
        version = self.take(head, "version", int)
        if head.get("magic") != "pir" or not 0 <= version <= NEWEST:
            self.fail(f"it is of the form {shorten_value(head)}", f"gradtool reads forms up to version {NEWEST}")
        regions = self.take(self.take(content, "program", dict), "regions", list)
        ops = self.ops_of(regions[0] if len(regions) == 1 else None)
        try:
            backward, self.seeds = backward_part(self, ops)
            block = self.program.global_block()
            for i, entry in enumerate(ops):
                self.at = f", operator {i}"
                if i not in backward:
                    self.operation(block, entry)
            self.at = ""
            open_written(self.program)
            self.mark_loss(block)
            verify_read(self.program)
            check_program(self.program, "loading")
        except FileFormatError:
            raise
        except GradtoolError as error:
            self.fail(error.message.removesuffix("."), error.hint)
        fetches = [self.fetches[n] for n in sorted(self.fetches)]
        return DescribedProgram(self.program, self.feeds, fetches, self.absent, 3000000)

    def mark_loss(self, block: Block) -> None:
        """Have the operator of the loss say so, as programs with a backward part do."""
        losses = [self.values[n].variable for n in reversed(self.seeds) if n in self.values]
        for v in losses[:1]:
            if v is not None and v.op is not None:
                v.op.role = roles.FORWARD | roles.LOSS

    # -- operators ------------------------------------------------------------------------------------------------

    def operation(self, block: Block, entry: Any) -> None:
        name = self.name_of(entry)
        if entry["#"] == "p":
            self.parameter(self.program.global_block(), entry)
            return
        attrs = self.attrs(entry)
        dialect = entry["#"].partition(".")[0]
        keep_before(self, block, entry)
        handle = _STRUCTURE.get((dialect, name))
        if handle is not None:
            handle(self, block, entry, attrs)
        else:
            self.operator(block, name, entry, attrs)
            self.write_in_place(block, entry)

    def write_in_place(self, block: Block, entry: Any) -> None:
        """Have whoever reads the operand of an operator that writes in place read what it wrote."""
        target, makes = self.in_place_operand(entry), self.makes(entry)
        if not target or not makes:
            return
        before, after = self.value(target), self.value(makes[0])
        if before.variable is None or after.variable is None:
            return
        if before.variable.block is block:
            if before.variable.spec is after.variable.spec:
                self.values[target] = after
            return
        # A region writes what stands around it: whoever reads that, in any round, reads the new value.
        if not compatible(before.variable.spec, after.variable.spec):
            self.fail(
                f"{shorten_value(entry['#'])} writes {after.variable.spec} in the place of {before.variable.spec}"
            )
        self.append(block, "assign", {"X": after.variable}, before.variable)
        self.values[makes[0]] = before

    def parameter(self, block: Block, entry: Any) -> None:
        told, flags = self.take(entry, "A", list), self.take(entry, "OA", list)
        result = self.take(entry, "O", dict)
        if len(told) != 4 or not isinstance(told[3], str) or not told[3] or len(flags) != 3:
            self.fail(f"a parameter that is {shorten_value(told)}")
        spec = self.spec(result.get("TT"))
        before = block.vars.get(told[3])
        if spec is None or (before is not None and before.spec is not spec):
            self.fail(f"the parameter {shorten_value(told[3])} without a type, or twice")
        if before is not None:  # one that is used several times may stand there as often
            self.bind(self.take(result, "%", int), PirValue(before))
            return
        v: Variable
        if spec.dtype.is_differentiable:
            v = Parameter(block, told[3], spec, trainable=bool(told[1] and flags[2]))
        else:  # what layers keep, as the mask of a dropout between recurrent ones
            v = Variable(block, told[3], spec)
        v.persistable = bool(flags[0])
        v.stop_gradient = bool(flags[1])
        block.vars[v.name] = v
        self.bind(self.take(result, "%", int), PirValue(v))

    def data(self, block: Block, entry: Any, attrs: Mapping[str, Any]) -> None:
        result = self.only_result(entry)
        name = attrs.get("name")
        spec = self.spec(self.take(result, "TT", dict))
        if not isinstance(name, str) or spec is None or name in block.vars:
            self.fail(f"the input {shorten_value(name)} without a type, or twice")
        v = Variable(block, name, spec, is_data=True)
        v.stop_gradient = self.stops(entry, 0)
        block.vars[name] = v
        self.feeds.append(name)
        self.bind(self.take(result, "%", int), PirValue(v))

    def fetch(self, block: Block, entry: Any, attrs: Mapping[str, Any]) -> None:
        v = self.value(self.reads(entry)[0]).variable if self.reads(entry) else None
        if v is None or not isinstance(attrs.get("col"), int):
            self.fail("a fetch operator of no variable")
        self.fetches[attrs["col"]] = v.name

    def combine(self, block: Block, entry: Any, attrs: Mapping[str, Any]) -> None:
        self.bind(
            self.take(self.only_result(entry), "%", int), PirValue(many=tuple(self.value(n) for n in self.reads(entry)))
        )

    def split(self, block: Block, entry: Any, attrs: Mapping[str, Any]) -> None:
        many = self.value(self.first(entry)).many
        makes = self.makes(entry)
        if many is None or len(many) != len(makes):
            self.fail("a list that is taken apart otherwise than it was put together")
        for n, value in zip(makes, many, strict=True):
            self.bind(n, value)

    def read_assign(self, block: Block, entry: Any, attrs: Mapping[str, Any]) -> None:
        """``assign_out_``: its first operand, written in the place of the second."""
        (held,) = self.results(block, "assign_out", entry)[:1] or [[]]
        for v in held[:1]:
            self.append(block, "assign", {"X": self.tensor(block, self.first(entry))}, v)
        self.write_in_place(block, entry)

    def read_arange(self, block: Block, entry: Any, attrs: Mapping[str, Any]) -> None:
        """``arange``: its bounds are constants of any type, and it counts in its own."""
        (held,) = self.results(block, "arange", entry)[:1] or [[]]
        reads = self.reads(entry)
        if len(reads) != 3 or len(held) != 1:
            self.fail(f"a range with {len(reads)} bounds")
        code = held[0].dtype.code
        bounds = {}
        for slot, number in zip(("Start", "End", "Step"), reads, strict=True):
            bounds[slot] = bound = self.new(block, "bound", held[0])
            told = self.tensor(block, number)
            bound.spec = TensorSpec(told.shape, held[0].dtype)
            self.append(block, "cast", {"X": told}, bound, in_dtype=told.dtype.code, out_dtype=code)
        self.append(block, "range", bounds, held[0])

    def read_coalesce(self, block: Block, entry: Any, attrs: Mapping[str, Any]) -> None:
        """``coalesce_tensor_``: the same tensors, side by side in memory."""
        makes, reads = self.makes(entry), self.reads(entry)
        if len(makes) != 2 or len(reads) != 1:
            self.fail(f"{len(makes)} results of tensors that are moved together")
        self.bind(makes[0], self.value(reads[0]))
        self.bind(makes[1], PirValue())

    def skip(self, block: Block, entry: Any, attrs: Mapping[str, Any]) -> None:
        """Skip an operator that only has Paddle keep or name a value."""

    def constant(self, block: Block, entry: Any, attrs: Mapping[str, Any]) -> None:
        """A constant: an attribute to whoever takes it so, a variable to the others, made when one asks."""
        value = attrs.get("value")
        values = value if isinstance(value, tuple) else (value,)
        result = self.only_result(entry)
        spec = self.spec(self.take(result, "TT", dict))
        if spec is None or not all(isinstance(n, (bool, int, float, complex)) for n in values):
            self.fail(f"a constant that is {shorten_value(value)}")
        number = self.take(result, "%", int)
        self.constants[number] = (block, spec, values)
        self.bind(number, PirValue(constant=value))

    def variable_of(self, block: Block, number: int) -> Any:
        """The variable, or the variables, that a number stands for."""
        value = self.value(number)
        if value.many is not None:
            return [v for inner in value.many for v in self.flat(block, inner)]
        if value.variable is None and number in self.constants:
            home, spec, values = self.constants[number]
            v = Variable(home, self.program.names("constant") + ".tmp_0", spec, stop_gradient=True)
            home.vars[v.name] = v
            # What a loop has yet to make has the loop's shape in the file, with sizes that nobody knows before it.
            settings = {"shape": tuple(abs(d) for d in spec.shape), "dtype": spec.dtype.code}
            if len(values) == spec.count:
                self.append(home, "assign_value", {}, v, values=values, **settings)
            elif len(values) == 1 and not isinstance(values[0], complex):  # not listed: the file may say any size
                self.append(home, "fill_constant", {}, v, value=float(values[0]), **settings)
            else:
                self.fail(f"{len(values)} values for a constant of {spec}")
            self.values[number] = value._replace(variable=v)
            return v
        return value.variable

    def flat(self, block: Block, value: PirValue) -> list[Variable]:
        if value.variable is not None:
            return [value.variable]
        number = next((n for n, other in self.values.items() if other is value), None)
        made = self.variable_of(block, number) if number is not None else None
        return [made] if isinstance(made, Variable) else []

    def append(
        self,
        block: Block,
        type_: str,
        inputs: Mapping[str, Variable | list[Variable]],
        outputs: Variable | Mapping[str, Variable],
        **attrs: Any,
    ) -> None:
        """Append an operator by its name here; a variable alone is what its slot ``Out`` gets."""
        ins = {slot: [v.name for v in (held if isinstance(held, list) else [held])] for slot, held in inputs.items()}
        told = {"Out": outputs} if isinstance(outputs, Variable) else outputs
        outs = {slot: [v.name] for slot, v in told.items()}
        block._append(assemble(block, registry.get_by_type(type_), ins, outs, attrs))

    def new(self, block: Block, stem: str, like: Variable) -> Variable:
        """A variable like another one, in *block*."""
        v = Variable(block, self.program.names(stem) + ".tmp_0", like.spec, kind=like.kind)
        v.stop_gradient = like.stop_gradient
        block.vars[v.name] = v
        return v

    def tensor(self, block: Block, number: int) -> Variable:
        """The one variable that a number stands for."""
        v = self.variable_of(block, number)
        if not isinstance(v, Variable):
            self.fail(f"value {number} is not one tensor")
        return v

    def operator(self, block: Block, name: str, entry: Any, attrs: Mapping[str, Any]) -> None:
        results = self.results(block, name, entry)
        if entry.get("regions"):
            why = _UNREAD.get(name, "it holds regions, which are not read")
            self.stand_in(block, name, entry, attrs, results, why)
            return
        why = ""
        for line in TABLE.get(name, ()):
            try:
                self.append_defined(block, line, entry, attrs, results)
                return
            except OperatorError as error:
                why = error.message.removesuffix(".")
        self.stand_in(block, name, entry, attrs, results, why)

    def append_defined(
        self, block: Block, line: PdOperator, entry: Any, attrs: Mapping[str, Any], results: list[list[Variable]]
    ) -> None:
        """Append the operator that *line* says; raises :class:`OperatorError` where it says another."""
        op = registry.get_by_type(line.type)
        inputs: dict[str, list[str]] = {}
        own = {line.renamed.get(name, name): value for name, value in attrs.items() if name not in _LEFT_OUT}
        own.pop("", None)
        for number, column in zip(self.reads(entry), line.operands, strict=False):
            value = self.value(number)
            if value == PirValue() or column == "-":
                continue
            if column.startswith("@"):
                attribute, _, column = column[1:].partition("/")
                if value.constant is not None:
                    own[attribute] = value.constant
                    continue
                if not column:
                    raise OperatorError(f"{attribute} is computed, and {op.type} takes numbers.")
            if column == "?":
                raise OperatorError(f"{op.type} has no place for an operand that it is given.")
            made = self.variable_of(block, number)
            inputs[column] = [v.name for v in made] if isinstance(made, list) else [made.name]
        for name in line.types:
            if name in own:
                own[name] = self.code(own[name])
        if op.type == "cast" and inputs.get("X"):
            own["in_dtype"] = block._var_recursive(inputs["X"][0]).dtype.code
        taken = attributes.own(op, {**line.fixed, **own})
        outputs = {
            slot: [v.name for v in held] for slot, held in zip(line.outputs or _slots(op), results, strict=False)
        }
        outputs = {slot: held for slot, held in outputs.items() if held and slot in op.output_index}
        made_op = assemble(block, op, inputs, self.complete_outputs(block, op, outputs), taken, scope="/")
        self.specify(made_op)
        block._append(made_op)

    def complete_outputs(self, block: Block, op: OpDef, outputs: dict[str, list[str]]) -> dict[str, list[str]]:
        """*outputs* with those that the new IR has not, as the shape before a reshape."""
        first = next((n for held in outputs.values() for n in held), "")
        missing = [s.name for s in op.outputs if not (s.optional or s.many or outputs.get(s.name))]
        for slot in missing:
            v = Variable(block, f"{first}@{slot}", TensorSpec((), "float32"), stop_gradient=True)
            block.vars[v.name] = v
        return {**outputs, **{slot: [f"{first}@{slot}"] for slot in missing}}

    def specify(self, op: Operator) -> None:
        """Say the specs of what *op* makes beside the file's own values; raise :class:`OperatorError` for others."""
        if not op.op.infers:
            return
        try:
            specs = build.infer(op.op, op.inputs, op.attrs)
        except MISFITS as error:
            raise OperatorError(f"{op.type} does not take what it is given: {error}") from None
        for v, spec in zip(op.outputs, specs, strict=False):
            if not isinstance(v, Variable) or not isinstance(spec, TensorSpec):
                continue
            if "@" in v.name or (
                v.shape == () and v is not op.outputs[0]
            ):  # not said: nobody but its gradient reads it
                v.spec = spec
            elif not compatible(v.spec, spec) and (
                op.type in _MISTOLD or not self.untold.isdisjoint(op.input_variables())
            ):
                v.spec = spec
                self.untold.add(v)
            elif not compatible(v.spec, spec):
                raise OperatorError(f"{op.type} makes {spec} here, and the file says {v.spec}.")

    def results(self, block: Block, name: str, entry: Any) -> list[list[Variable]]:
        """Variables for what an operator makes, in order: none for a value that is not there, several for a list."""
        made: list[list[Variable]] = []
        updated = UPDATED.get(name, {}) if entry["#"].endswith("_") else {}
        reads = self.reads(entry) if updated else []
        stem = self.program.names(name if name.isidentifier() else "op")
        count = 0
        for i, result in enumerate(self.take(entry, "O", list)):
            number = self.take(result, "%", int)
            type_ = result.get("TT")
            if i in updated and updated[i] < len(reads):
                made.append([self.tensor(block, reads[updated[i]])])
                self.bind(number, PirValue(made[-1][0]))
                continue
            kind = ARRAY if kind_of(type_) == "t_dense_tensor_array" else DENSE
            variables = []
            for spec in self.specs(type_):
                v = Variable(block, f"{stem}.tmp_{count}", spec, stop_gradient=self.stops(entry, i), kind=kind)
                block.vars[v.name] = v
                variables.append(v)
                count += 1
            made.append(variables)
            is_list = kind_of(type_) == "t_vec"
            value = PirValue(many=tuple(map(PirValue, variables))) if is_list else PirValue(next(iter(variables), None))
            self.bind(number, value)
        return made

    def stand_in(
        self, block: Block, name: str, entry: Any, attrs: Mapping[str, Any], results: list[list[Variable]], why: str
    ) -> None:
        """Append an operator that stands for one that gradtool lacks, with all that it and its regions read."""
        self.absent.add(name, why)
        read: list[Variable] = []
        for number in dict.fromkeys(self.all_reads(entry)):
            made = self.variable_of(block, number) if number in self.values else None
            read += made if isinstance(made, list) else [made] if made is not None else []
        plain = {n: v for n, v in attrs.items() if n not in _LEFT_OUT}
        op = StandIn(name, ["X"], ["Out"], plain, self.absent)
        outputs = [v.name for held in results for v in held]
        block._append(assemble(block, op, {"X": [v.name for v in dict.fromkeys(read)]}, {"Out": outputs}, plain))

    # -- values ---------------------------------------------------------------------------------------------------

    def bind(self, number: int, value: PirValue) -> None:
        if number in self.values:
            self.fail(f"value {number} is made twice")
        self.values[number] = value

    def bind_variable(self, number: int, v: Variable) -> None:
        """Have a number stand for a variable, or for one more."""
        self.bind(number, PirValue(v))

    def value(self, number: int) -> PirValue:
        """Return the value of a number: 0 represents nothing, negative numbers what a region is given."""
        if number == 0:
            return PirValue()
        if number not in self.values:
            self.fail(f"value {number} is read, and nobody makes it")
        return self.values[number]


def _slots(op: OpDef) -> Iterable[str]:
    return [slot.name for slot in op.outputs]


_STRUCTURE: Final = {
    ("1", "data"): PirReader.data,
    ("1", "fetch"): PirReader.fetch,
    ("1", "assign_out"): PirReader.read_assign,
    ("1", "arange"): PirReader.read_arange,
    ("1", "coalesce_tensor"): PirReader.read_coalesce,
    ("1", "full"): PirReader.constant,
    ("1", "full_int_array"): PirReader.constant,
    ("0", "combine"): PirReader.combine,
    ("0", "split"): PirReader.split,
    ("0", "shadow_output"): PirReader.skip,
    ("0", "set_parameter"): PirReader.skip,
    **REGIONS,
    **ARRAYS,
}
"""Dialect and name of what is no operator here."""
