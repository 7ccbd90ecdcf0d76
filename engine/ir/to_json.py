"""A program as JSON, read back by ``from_json.py``: all that it knows, of which the text form holds a part.

The form is described by ``schemas/static-program.json``. What is code stays behind: the schedule of a learning rate
(its present value is a persistable variable) and regularizers of the user's own. Locations keep the last part of the
file's name, the line and the function.
"""

from __future__ import annotations

import math
from typing import Any

from ..core.collector import pause_gc
from ..core.errors import ProgramError
from ..core.source import Location, frames
from ..files import jsontext
from .operator import Operator
from .program import Block, Program
from .variable import DENSE, Parameter, Variable

SCHEMA = "gradtool/static-program/1"
FLAGS = ("persistable", "stop_gradient", "is_data")
SETTINGS = ("trainable", "need_clip", "do_model_average", "is_distributed", "layer_path")
REGULARIZERS = ("L1Decay", "L2Decay")
PUBLIC = "gradtool.paddle.regularizer"
"""Where regularizers are defined: above this layer."""


# -- writing ----------------------------------------------------------------------------------------------------------


def to_json(program: Program, *, sources: bool = True, indent: int | None = None) -> str:
    """The program as JSON text.

    Args:
        sources: False leaves out where operators and variables were made.
        indent: blanks per level, for people; one line when None.

    Raises:
        ProgramError: an attribute holds something that is no data.
    """
    with pause_gc():
        return jsontext.write(_JsonWriter(program, sources).program(), indent)


class _JsonWriter:
    def __init__(self, program: Program, sources: bool) -> None:
        self.source = program
        self.sources = sources
        self.locations: dict[Location, int] = {}
        self.numbers = {op: i for i, op in enumerate(op for block in program.blocks for op in block.ops)}

    def program(self) -> dict[str, Any]:
        program = self.source
        blocks = [self.block(block) for block in program.blocks]
        return {
            "schema": SCHEMA,
            "random_seed": program.random_seed,
            "backward_parts": program._appending_grad_times,
            "name_prefix": program.names.prefix,
            "names": program.names.every_count(),
            "scopes": [[outer, name, count] for (outer, name), count in program.scope_names.items()],
            "locations": [
                [[_plain(file), line, _plain(function)] for file, line, function in frames(location)]
                for location in self.locations
            ],
            "blocks": blocks,
        }

    def block(self, block: Block) -> dict[str, Any]:
        return {
            "parent": block.parent_idx,
            "forward": block.forward_block_idx,
            "backward": block.backward_block_idx,
            "variables": [self.variable(v) for v in block.vars.values()],
            "operators": [self.operator(op) for op in block.ops],
        }

    def place(self, location: Location) -> dict[str, int]:
        """The entry that says where something was made, if that is known."""
        if not self.sources or not location:
            return {}
        return {"location": self.locations.setdefault(location, len(self.locations))}

    def variable(self, v: Variable) -> dict[str, Any]:
        entry: dict[str, Any] = {"name": v.name, "shape": [int(d) for d in v.shape], "dtype": v.dtype.name}
        if v.kind != DENSE:
            entry["kind"] = v.kind
        for flag in FLAGS:
            entry[flag] = bool(getattr(v, flag))
        if isinstance(v, Parameter):
            entry["parameter"] = {
                "learning_rate": float(v.optimize_attr["learning_rate"]),
                **{name: getattr(v, name) for name in SETTINGS},
                "regularizer": _regularizer(v),
            }
        return entry | self.place(v.loc)

    def operator(self, op: Operator) -> dict[str, Any]:
        entry: dict[str, Any] = {
            "type": op.type,
            "inputs": {slot: op.input(slot) for slot in op.input_names},
            "outputs": {slot: op.output(slot) for slot in op.output_names},
            "attributes": {name: self.value(op, name, op.attrs[name]) for name in sorted(op.attrs)},
            "role": op.role,
        }
        if op.role_var:
            entry["role_var"] = list(op.role_var)
        if op.scope != "/":
            entry["scope"] = op.scope
        for name, other in (("gradient_of", op.origin), ("repeats", op.repeats)):
            number = self.numbers.get(other) if other is not None else None
            if number is not None and number < self.numbers[op]:
                entry[name] = number
        return entry | self.place(op.loc)

    def value(self, op: Operator, name: str, value: Any) -> Any:
        """An attribute's value: JSON's own kinds, and objects with one key for the others."""
        if isinstance(value, (list, tuple)):
            return [self.value(op, name, entry) for entry in value]
        if isinstance(value, Block):
            return {"block": value.idx}
        if hasattr(value, "item") and getattr(value, "ndim", None) == 0:
            value = value.item()
        if isinstance(value, complex):
            return {"complex": [self.value(op, name, part) for part in (value.real, value.imag)]}
        if isinstance(value, float) and not math.isfinite(value):
            return {"float": str(value)}
        if isinstance(value, (bool, int, float, str, type(None))):
            return value
        raise ProgramError(
            f"{op.type}: attribute {name} holds {type(value).__name__}, which is no data that a file could hold.",
            op=op.summary(),
        )


def _plain(name: str) -> str:
    """A name that can be printed on one line and is no path."""
    return "".join(c if c.isprintable() and c not in "/\\" else "?" for c in name)


def _regularizer(parameter: Parameter) -> dict[str, Any] | None:
    decay = parameter.regularizer
    name = type(decay).__name__
    if name not in REGULARIZERS or type(decay).__module__ != PUBLIC:
        return None
    return {"type": name, "coeff": decay.coeff}
