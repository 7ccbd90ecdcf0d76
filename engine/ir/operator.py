"""Operators of a program, and their attributes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from ..core import names, source, upward
from ..core.errors import SlotNotFound, did_you_mean
from ..core.identity import identity
from ..core.source import NOWHERE, Location
from ..ops import compat
from ..ops.opdef import BlockValue, OpDef, Slot
from . import roles
from .variable import Variable

if TYPE_CHECKING:
    from .desc import OpDesc
    from .program import Block

Operands = tuple[Variable | tuple[Variable | None, ...] | None, ...]
"""One entry per slot: a variable, a tuple of them for a list slot, or None for an empty one.

Trailing optional slots may be left out altogether; they are then not listed either.
"""

COMMON = ("op_callstack", "op_device", "op_namescope", "op_role", "op_role_var", "with_quant_attr")
"""Attributes that every operator has, beside its own."""


class SharedAttrs(dict[str, Any]):
    """Attributes that equal operators share, with what is worked out once for all of them; never changed.

    Attributes:
        results: the specs of outputs, by definition (a gradient operator has its forward operator's attributes) and
            input specs.
    """

    __slots__ = ("results",)

    def __init__(self, attrs: Mapping[str, Any]) -> None:
        super().__init__(attrs)
        self.results: dict[Any, tuple[Any, ...]] = {}

    def __reduce__(self) -> tuple[Any, ...]:
        return dict, (dict(self),)


LONG = 1024
"""Values of an attribute beyond which it is not shared: the table would hold them twice more, and for good."""

_interned: dict[Any, SharedAttrs] = {}
_defaults: dict[OpDef, SharedAttrs] = {}
"""The attributes of operators that were given none."""


def intern_attrs(op: OpDef, attrs: Mapping[str, Any]) -> Mapping[str, Any]:
    """One shared mapping for equal attributes, so that a million operators do not hold a million of them."""
    if op.holds_blocks:
        return attrs  # the shared mappings must not keep programs alive
    if type(attrs) is SharedAttrs:
        return attrs
    while op.forward is not None:
        op = op.forward
    try:
        key = (op, tuple(attrs), tuple(map(_key_with_type, attrs.values())))
        shared = _interned.get(key)
        return shared if shared is not None else _interned.setdefault(key, SharedAttrs(attrs))
    except TypeError:
        return attrs


def fill_attrs(op: OpDef, attrs: Mapping[str, Any]) -> Mapping[str, Any]:
    """All attributes of an operator that was given *attrs*, shared with equal ones; errors as ``op.attributes``."""
    if attrs:
        return intern_attrs(op, op.attributes(attrs))
    shared = _defaults.get(op)
    if shared is None:
        filled = intern_attrs(op, op.attributes(attrs))
        if type(filled) is not SharedAttrs:
            return filled
        shared = _defaults[op] = filled
    return shared


def _key_with_type(value: Any) -> Any:
    """*value* in a form in which 1, 1.0 and True differ, and 0.0 and -0.0."""
    kind = type(value)
    if kind is str:
        return value
    if kind is tuple:
        if len(value) > LONG:
            raise TypeError("too long to be compared with what others have")
        return tuple(map(_key_with_type, value))
    if isinstance(value, (bool, int, float)):
        return kind, value if value else str(value)
    return value


class Marks(NamedTuple):
    """Facts that operators with equal marks share, so that a million of them do not hold it a million times.

    Attributes:
        block, loc, role, scope, role_var, repeats: of an operator.
        dropped: the user's line that drops its results, where one does.
    """

    block: Block
    loc: Location = NOWHERE
    role: int = 0
    scope: str = "/"
    role_var: tuple[str, ...] = ()
    repeats: Operator | None = None
    dropped: Location = NOWHERE

    def move(self, block: Block) -> Marks:
        """Those of an operator of *block* that is the same, but that it runs nothing again."""
        return self._replace(block=block, repeats=None).share()

    def share(self) -> Marks:
        """The same, as the one object that operators of the block have which are marked so."""
        if self.role_var or self.repeats is not None or self.dropped:
            return self
        return make_marks(self.block, self.loc, self.role, self.scope)


REMEMBERED_MARKS = 1024
"""How many different marks a block knows at a time; what is read from a file may have some of its own everywhere."""


def make_marks(block: Block, loc: Location, role: int, scope: str) -> Marks:
    """Return the marks of operators of *block* that were made at *loc*, with that role and scope."""
    table = block.marks
    key = (identity(loc), role, scope)  # a location takes long to hash; the marks hold it, so that it stays where it is
    marks = table.get(key)
    if marks is None or marks.loc is not loc:
        if len(table) >= REMEMBERED_MARKS:
            table.clear()
        marks = table[key] = Marks(block, loc, role, scope)
    return marks


class Operator:
    """One operator of a program.

    Attributes:
        op: its definition.
        inputs, outputs: the variables, by position of the definition's slots.
        attrs: its own attributes (shared: never change the mapping in place, see :meth:`_set_attr`).
        loc: where the user's program made it; for a gradient operator, where its forward operator was made.
        block: the block that holds it.
        role, role_var, scope: what ``op_role``, ``op_role_var`` and ``op_namescope`` say.
        origin: for a gradient operator, the forward operator that it differentiates.
        repeats: for an operator that computes again what was let go of, the forward operator that computed it first.
        marks: *block*, *loc*, *role*, *role_var*, *scope* and *repeats*, in which most operators are alike.
    """

    __slots__ = ("attrs", "inputs", "marks", "op", "origin", "outputs")

    def __init__(
        self,
        block: Block,
        op: OpDef,
        inputs: Operands,
        outputs: Operands,
        attrs: Mapping[str, Any],
        *,
        loc: Location,
        role: int = 0,
        scope: str = "/",
        origin: Operator | None = None,
        repeats: Operator | None = None,
    ) -> None:
        self.op = op
        self.inputs = inputs
        self.outputs = outputs
        self.attrs = attrs if type(attrs) is SharedAttrs else intern_attrs(op, attrs)
        self.marks = (
            make_marks(block, loc, role, scope) if repeats is None else Marks(block, loc, role, scope, (), repeats)
        )
        self.origin = origin

    def twin(self, inputs: Operands, outputs: Operands, marks: Marks) -> Operator:
        """The same operator between other variables, with marks of its block; no other's gradient."""
        new = Operator.__new__(Operator)  # a program may have a million, and all of it has been checked
        new.op = self.op
        new.inputs = inputs
        new.outputs = outputs
        new.attrs = self.attrs
        new.marks = marks
        new.origin = None
        return new

    @property
    def block(self) -> Block:
        return self.marks.block

    @block.setter
    def block(self, block: Block) -> None:
        self.marks = self.marks._replace(block=block).share()

    @property
    def loc(self) -> Location:
        return self.marks.loc

    @loc.setter
    def loc(self, loc: Location) -> None:
        self.marks = self.marks._replace(loc=loc).share()

    @property
    def role(self) -> int:
        return self.marks.role

    @role.setter
    def role(self, role: int) -> None:
        self.marks = self.marks._replace(role=role).share()

    @property
    def scope(self) -> str:
        return self.marks.scope

    @scope.setter
    def scope(self, scope: str) -> None:
        self.marks = self.marks._replace(scope=scope).share()

    @property
    def role_var(self) -> tuple[str, ...]:
        return self.marks.role_var

    @role_var.setter
    def role_var(self, role_var: tuple[str, ...]) -> None:
        self.marks = self.marks._replace(role_var=role_var).share()

    @property
    def repeats(self) -> Operator | None:
        return self.marks.repeats

    @repeats.setter
    def repeats(self, repeats: Operator | None) -> None:
        self.marks = self.marks._replace(repeats=repeats).share()

    @property
    def type(self) -> str:
        return self.op.type

    @property
    def idx(self) -> int:
        """Position in its block (found by search)."""
        return next(i for i, o in enumerate(self.block.ops) if o is self)

    @property
    def saves(self) -> bool:
        """True if it stands among forward operators and keeps, for backward ones, a value that is overwritten."""
        if not self.marks.role & roles.BACKWARD or self.op.type != "assign" or self.origin is not None:
            return False
        return all(names.is_saved(v.name) for v in self.output_variables())

    @property
    def desc(self) -> OpDesc:
        """The view of the operator that callbacks get."""
        return upward.part("descriptions of parts").OpDesc(self)  # type: ignore[no-any-return]

    # -- blocks ---------------------------------------------------------------------------------------------------

    @property
    def sub_blocks(self) -> tuple[Block, ...]:
        """The blocks that its attributes refer to, in the order of the attributes."""
        if not self.op.holds_blocks:
            return ()
        blocks: list[Any] = []
        for value in self.attrs.values():
            blocks += [b for b in (value if isinstance(value, tuple) else (value,)) if isinstance(b, BlockValue)]
        return tuple(blocks)

    def _block_attr(self, name: str) -> Block:
        """The block that an attribute refers to."""
        return self.attr(name)  # type: ignore[no-any-return]

    def _block_attr_id(self, name: str) -> int:
        """The index of the block that an attribute refers to."""
        return self._block_attr(name).idx

    def _blocks_attr_ids(self, name: str) -> list[int]:
        """The indices of the blocks that an attribute refers to."""
        return [b.idx for b in self.attr(name)]

    # -- slots ----------------------------------------------------------------------------------------------------

    @property
    def input_names(self) -> list[str]:
        """Input slot names, sorted."""
        listed = zip(self.op.inputs, self.inputs, strict=False)
        shown = sorted(s.name for s, v in listed if v or not s.unlisted)
        if self.type in compat.CONTINUES and compat.CONTINUES[self.type][0] in shown:
            shown.remove(compat.CONTINUES[self.type][0])
        return shown

    @property
    def output_names(self) -> list[str]:
        """Output slot names, sorted; those that a definition can do without appear only where they are used."""
        return sorted(s.name for s in self._visible_outputs())

    def _visible_outputs(self) -> Iterator[Slot]:
        for slot, value in zip(self.op.outputs, self.outputs, strict=True):
            if value or (not slot.unlisted and (value is not None or not slot.optional or self.op.forward is not None)):
                yield slot

    def input(self, name: str) -> list[str]:
        """Names of the variables in an input slot; raises :class:`SlotNotFound` (a RuntimeError)."""
        return _names(self._slot(name, self.op.input_index, self.inputs, "input"))

    def output(self, name: str) -> list[str]:
        """Names of the variables in an output slot; raises :class:`SlotNotFound` (a RuntimeError)."""
        return _names(self._slot(name, self.op.output_index, self.outputs, "output"))

    def _slot(self, slot: str, index: Mapping[str, int], values: Operands, what: str) -> Any:
        if slot not in index:
            raise SlotNotFound(
                f"{self.type} has no {what} slot {slot!r}", hint=did_you_mean(slot, index), op=self.summary()
            )
        at = index[slot]
        return values[at] if at < len(values) else None

    def input_variables(self) -> Iterator[Variable]:
        """Every variable that it reads, slot by slot."""
        return each(self.inputs)

    def output_variables(self) -> Iterator[Variable]:
        """Every variable that it writes, slot by slot."""
        return each(self.outputs)

    @property
    def input_arg_names(self) -> list[str]:
        """Names of the variables read, by sorted slot."""
        return [n for s in self.input_names for n in self.input(s)]

    @property
    def output_arg_names(self) -> list[str]:
        """Names of the variables written, by sorted slot."""
        return [n for s in self.output_names for n in self.output(s)]

    # -- attributes -----------------------------------------------------------------------------------------------

    @property
    def attr_names(self) -> list[str]:
        """Names of all attributes, sorted."""
        return sorted([*self.attrs, *COMMON])

    def has_attr(self, name: str) -> bool:
        return name in self.attrs or name in COMMON

    def attr(self, name: str) -> Any:
        """An attribute's value; lists come as lists. Raises :class:`SlotNotFound` (a RuntimeError)."""
        if name in self.attrs:
            value = self.attrs[name]
            return list(value) if isinstance(value, tuple) else value
        match name:
            case "op_role":
                return self.role
            case "op_role_var":
                return list(self.role_var)
            case "op_namescope":
                return self.scope
            case "op_device":
                return ""
            case "with_quant_attr":
                return False
            case "op_callstack":
                return list(source.stack(self.loc))
        raise SlotNotFound(
            f"{self.type} has no attribute {name!r}",
            hint=did_you_mean(name, self.attr_names),
            op=self.summary(),
        )

    def all_attrs(self) -> dict[str, Any]:
        """All attributes by name, in sorted order."""
        return {n: self.attr(n) for n in self.attr_names}

    def _set_attr(self, name: str, value: Any) -> None:
        """Change one attribute of this operator; the program's version grows."""
        if name == "op_role":
            self.role = int(value)
        elif name == "op_role_var":
            self.role_var = tuple(value)
        elif name == "op_namescope":
            self.scope = str(value)
        elif name in self.attrs:
            checked = self.op.attributes({name: value})[name]
            self.attrs = intern_attrs(self.op, {**self.attrs, name: checked})
        elif name not in COMMON:
            self.attr(name)  # raises
        self.block.program.version += 1

    def _rename_input(self, old_name: str, new_name: str) -> None:
        """Read *new_name* wherever *old_name* is read; raises :class:`VariableNotFound`."""
        self.inputs = upward.part("edits of programs").replace_variable(self, self.inputs, old_name, new_name)

    def _rename_output(self, old_name: str, new_name: str) -> None:
        """Write *new_name* wherever *old_name* is written; raises :class:`VariableNotFound`."""
        upward.part("edits of programs").rewrite(self, old_name, new_name)

    # -- text -----------------------------------------------------------------------------------------------------

    def summary(self) -> str:
        """``elementwise_mul(X=h, Y=gate) -> Out=tmp_3``: the operator without its attributes."""
        hidden, _ = compat.CONTINUES.get(self.type, (None, None))
        read = _pairs(self.op.inputs, self.inputs, hidden)
        return f"{self.type}({read}) -> {_pairs(self.op.outputs, self.outputs)}"

    def __repr__(self) -> str:
        return str(upward.part("texts of programs").operator_text(self))

    def to_string(self, throw_on_error: bool = False) -> str:
        return repr(self)


def map_operands(operands: Operands, change: Callable[[Variable], Any]) -> tuple[Any, ...]:
    """Apply *change* to the variables in *operands*, in the same nesting; empty places stay empty."""
    if len(operands) == 1 and isinstance(operands[0], Variable):
        return (change(operands[0]),)
    return tuple([change(v) if isinstance(v, Variable) else _map_slot(v, change) for v in operands])


def _map_slot(value: Any, change: Callable[[Variable], Any]) -> Any:
    """The same for a list slot, or an empty one."""
    return None if value is None else tuple([None if v is None else change(v) for v in value])


def flat(operands: Operands) -> list[Variable | None]:
    """The places in *operands* one after another, empty ones as None."""
    places: list[Variable | None] = []
    for value in operands:
        if isinstance(value, tuple):
            places.extend(value)
        else:
            places.append(value)
    return places


def each(operands: Operands) -> Iterator[Variable]:
    """The variables in *operands*, without the empty places."""
    for value in operands:
        if value is None:
            continue
        if isinstance(value, tuple):
            for v in value:
                if v is not None:
                    yield v
        else:
            yield value


def _names(value: Any) -> list[str]:
    if value is None:
        return []
    if isinstance(value, tuple):
        return [names.EMPTY if v is None else v.name for v in value]  # places in a list keep their meaning
    return [value.name]


def _pairs(slots: Iterable[Slot], values: Operands, hidden: str | None = None) -> str:
    parts = []
    for slot, value in zip(slots, values, strict=False):
        arguments = _names(value)
        if arguments and slot.name != hidden:
            parts.append(f"{slot.name}={arguments[0] if not slot.many else '[' + ', '.join(arguments) + ']'}")
    return ", ".join(parts)
