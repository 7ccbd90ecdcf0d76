"""A program from its JSON form (``to_json.py``).

Operators are made by looking up their definitions; no name in the text is ever called, imported or opened.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

from ..core import upward
from ..core.collector import pause_gc
from ..core.errors import FileFormatError, GradtoolError
from ..core.source import NOWHERE, Location
from ..core.spec import TensorSpec
from ..files import jsontext
from ..files.jsontext import Field, shorten_value
from .assemble import assemble, block_at, check_blocks, definition, location_from_frames, new_block
from .checking import check_program
from .operator import Operator
from .program import Block, Program
from .to_json import FLAGS, REGULARIZERS, SCHEMA, SETTINGS
from .variable import DENSE, Parameter, Variable
from .verify import verify_read

_DEPTH = 16
"""How deep lists in attributes may be nested."""
_MOST = 2**62
_LINKS = {"gradient_of": "origin", "repeats": "repeats"}
"""Fields that name another operator, and where an operator has it."""


def from_json(data: bytes | str, where: str = "the program") -> Program:
    """The program that *data* describes.

    Args:
        where: which file it came from, for messages.

    Raises:
        FileFormatError: it is no JSON, of another form or version, or names operators, slots, attributes or variables
            that do not exist (a ValueError).
    """
    with pause_gc():
        return _JsonReader(where).program(jsontext.read(data, where))


class _JsonReader:
    def __init__(self, where: str) -> None:
        self.where = where
        self.at = ""
        """The part that is being read, for messages."""
        self.locations: list[Location] = []
        self.links: list[tuple[str, int, int]] = []
        """Which field of which operator names which other one, by number."""

    def fail(self, expected: str, came: str, hint: str | None = None) -> NoReturn:
        raise FileFormatError(f"{self.where}{self.at}", expected, came, hint=hint)

    def take(self, entry: Any, fields: Mapping[str, Field]) -> dict[str, Any]:
        """The values in *entry*, which has these fields and no others."""
        return jsontext.take(entry, fields, self.fail)

    def program(self, data: Any) -> Program:
        form = data.get("schema") if isinstance(data, dict) else data
        if form != SCHEMA:
            self.fail(f"a program ({SCHEMA})", f"it is {shorten_value(form)}")
        told = self.take(data, _PROGRAM)
        program = Program()
        program.random_seed = told["random_seed"]
        program._appending_grad_times = told["backward_parts"]
        program.names.prefix = told["name_prefix"]
        program.names.counts.update(told["names"])
        program.scope_names = {(outer, name): count for outer, name, count in told["scopes"]}
        self.locations = [location_from_frames([(f[0], f[1], f[2]) for f in stack]) for stack in told["locations"]]
        program.blocks = []
        blocks = [self.take(entry, _BLOCK) for entry in told["blocks"]]
        try:
            self.fill(program, blocks)
            check_blocks(program)
            return check_program(verify_read(program), "loading")
        except FileFormatError:
            raise
        except GradtoolError as error:
            self.fail("a program that can exist", error.message.removesuffix("."), error.hint)

    def fill(self, program: Program, blocks: Sequence[Mapping[str, Any]]) -> None:
        """Put the blocks into *program*, then all variables, then the operators that read them."""
        for block in blocks:
            new_block(program, block["parent"], block["forward"], block["backward"])
        for home, block in zip(program.blocks, blocks, strict=True):
            for i, entry in enumerate(block["variables"]):
                self.at = f", block {home.idx}, variable {i}"
                self.variable(home, entry)
        ops: list[Operator] = []
        for home, block in zip(program.blocks, blocks, strict=True):
            for i, entry in enumerate(block["operators"]):
                self.at = f", block {home.idx}, operator {i}"
                told = self.take(entry, _OPERATOR)
                ops.append(home._append(self.operator(home, told)))
                self.links += [(name, len(ops) - 1, told[name]) for name in _LINKS if told[name] is not None]
        self.at = ""
        for name, own, number in self.links:
            if number >= own:
                self.fail(f"{name} to be the number of an operator before", f"it is {number}")
            setattr(ops[own], _LINKS[name], ops[number])

    def location(self, told: Mapping[str, Any]) -> Location:
        number: int | None = told["location"]
        if number is None:
            return NOWHERE
        if number >= len(self.locations):
            self.fail(f"one of {len(self.locations)} locations", f"it is {number}")
        return self.locations[number]

    def variable(self, block: Block, entry: Any) -> None:
        told = self.take(entry, _VARIABLE)
        name, spec = told["name"], TensorSpec(told["shape"], told["dtype"])
        if name in block.vars:
            self.fail("variables of different names", f"{shorten_value(name)} comes twice")
        if told["parameter"] is None:
            v = Variable(block, name, spec)
        else:
            settings = self.take(told["parameter"], _PARAMETER)
            v = Parameter(block, name, spec, learning_rate=settings["learning_rate"])
            for setting in SETTINGS:
                setattr(v, setting, settings[setting])
            if settings["regularizer"] is not None:
                decay = self.take(settings["regularizer"], _DECAY)
                v.regularizer = getattr(upward.part("regularizers"), decay["type"])(decay["coeff"])
        v.kind = told["kind"]
        v.loc = self.location(told)
        for flag in FLAGS:
            setattr(v, flag, told[flag])
        block.vars[name] = v

    def operator(self, block: Block, told: Mapping[str, Any]) -> Operator:
        return assemble(
            block,
            definition(told["type"]),
            told["inputs"],
            told["outputs"],
            {name: self.value(block, value, 0) for name, value in told["attributes"].items()},
            role=told["role"],
            role_var=tuple(told["role_var"]),
            scope=told["scope"],
            loc=self.location(told),
        )

    def value(self, block: Block, value: Any, depth: int) -> Any:
        if depth > _DEPTH:
            self.fail(f"lists nested up to {_DEPTH} deep", "there are deeper ones")
        if isinstance(value, list):
            return tuple([self.value(block, entry, depth + 1) for entry in value])
        if not isinstance(value, dict):
            return value
        if len(value) > 1:
            self.fail("an attribute's value", f"it is {shorten_value(value)}")
        match value:
            case {"block": idx} if type(idx) is int:
                return block_at(block.program, idx)
            case {"float": "nan" | "inf" | "-inf" as word}:
                return float(word)
            case {"complex": [real, imaginary]}:
                parts = [self.value(block, part, depth + 1) for part in (real, imaginary)]
                if all(type(part) is float for part in parts):
                    return complex(*parts)
        self.fail("an attribute's value", f"it is {shorten_value(value)}")


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_name(value: Any) -> bool:
    return isinstance(value, str) and value != ""


def _is_flag(value: Any) -> bool:
    return isinstance(value, bool)


def _is_count(value: Any) -> bool:
    return type(value) is int and 0 <= value < _MOST


def _is_index(value: Any) -> bool:
    return type(value) is int and -1 <= value < _MOST


def _is_number(value: Any) -> bool:
    return type(value) in (int, float) and abs(value) < _MOST


def _is_list(value: Any) -> bool:
    return isinstance(value, list)


def _is_shape(value: Any) -> bool:
    return isinstance(value, list) and len(value) <= 64 and all(map(_is_index, value))


def _is_names(value: Any) -> bool:
    return isinstance(value, list) and all(map(_is_text, value))


def _is_slots(value: Any) -> bool:
    return isinstance(value, dict) and all(map(_is_names, value.values()))


def _is_frame(value: Any) -> bool:
    match value:
        case [str(file), int(line), str(function)]:
            said = file.isprintable() and function.isprintable() and not set("/\\") & set(file)
            return said and _is_count(line)
    return False


_PROGRAM: dict[str, Field] = {
    "schema": (_is_text, "the form and its version", ...),
    "random_seed": (lambda v: type(v) is int and abs(v) < _MOST, "a number", 0),
    "backward_parts": (_is_count, "how many backward parts were appended", 0),
    "name_prefix": (_is_text, "the prefix of new names", ""),
    "names": (lambda v: isinstance(v, dict) and all(map(_is_count, v.values())), "counters of unique names", {}),
    "scopes": (
        lambda v: _is_list(v) and all(_is_list(e) and len(e) == 3 and _is_names(e[:2]) and _is_count(e[2]) for e in v),
        "counters of name scopes",
        [],
    ),
    "locations": (
        lambda v: _is_list(v) and all(_is_list(stack) and all(map(_is_frame, stack)) for stack in v),
        "lists of file, line and function",
        [],
    ),
    "blocks": (lambda v: _is_list(v) and len(v) > 0, "a list of at least one block", ...),
}
_BLOCK: dict[str, Field] = {
    "parent": (_is_index, "the number of the block around it, or -1", ...),
    "forward": (_is_index, "the number of its forward block, or -1", -1),
    "backward": (_is_index, "the number of its backward block, or -1", -1),
    "variables": (_is_list, "a list", ...),
    "operators": (_is_list, "a list", ...),
}
_VARIABLE: dict[str, Field] = {
    "name": (_is_text, "a name", ...),
    "shape": (_is_shape, "a list of dimensions, -1 for one that is not known", ...),
    "dtype": (_is_text, "a data type", ...),
    "kind": (_is_name, "what the variable holds", DENSE),
    **dict.fromkeys(FLAGS, (_is_flag, "true or false", False)),
    "parameter": (lambda v: isinstance(v, dict), "a parameter's settings", None),
    "location": (_is_count, "the number of a location", None),
}
_PARAMETER: dict[str, Field] = {
    "learning_rate": (_is_number, "a number", 1.0),
    "trainable": (_is_flag, "true or false", True),
    "need_clip": (_is_flag, "true or false", True),
    "do_model_average": (_is_flag, "true or false", True),
    "is_distributed": (_is_flag, "true or false", False),
    "layer_path": (lambda v: v is None or _is_text(v), "a path or null", None),
    "regularizer": (lambda v: v is None or isinstance(v, dict), "a weight decay or null", None),
}
_DECAY: dict[str, Field] = {
    "type": (lambda v: v in REGULARIZERS, " or ".join(REGULARIZERS), ...),
    "coeff": (_is_number, "a number", ...),
}
_OPERATOR: dict[str, Field] = {
    "type": (_is_name, "a type", ...),
    "inputs": (_is_slots, "lists of names by slot", ...),
    "outputs": (_is_slots, "lists of names by slot", ...),
    "attributes": (lambda v: isinstance(v, dict), "values by name", ...),
    "role": (_is_count, "a role's number", 0),
    "role_var": (lambda v: _is_names(v) and len(v) % 2 == 0, "parameters and gradients, two by two", []),
    "scope": (_is_text, "a path", "/"),
    "gradient_of": (_is_count, "the number of the operator that it differentiates", None),
    "repeats": (_is_count, "the number of the operator that it runs again", None),
    "location": (_is_count, "the number of a location", None),
}
