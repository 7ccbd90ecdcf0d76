"""An outline as JSON that a dump holds: all that is known of a graph, with the lines of the source.

What :mod:`.golden` writes is for people to review; this is for comparing with later.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any, Final, NoReturn

from ...core.errors import FileFormatError
from ...files import jsontext
from ...files.jsontext import Field
from .outline import CONSTANT, DATA, NOTHING, PARAMETER, Outline, OutlineLeaf, OutlineOperand, OutlineOperation

SCHEMA: Final = "gradtool/outline/1"
ENDING: Final = "outline.json"
HINT: Final = "gradtool graph --dump DIR MODEL, or backward(dump_backward_graph_path=DIR), writes such a file"


def write(outline: Outline) -> str:
    """The text of an outline; the same text for the same outline."""
    data = {
        "schema": SCHEMA,
        "title": outline.title,
        "mode": outline.mode,
        "loss": outline.loss,
        "forward": outline.forward,
        "recorded": outline.recorded,
        "settings": {name: list(values) for name, values in sorted(outline.settings.items())},
        "operations": [_plain(op, operands=[list(o) for o in op.operands]) for op in outline.operations],
        "leaves": [_plain(leaf, shape=list(leaf.shape)) for leaf in outline.leaves.values()],
    }
    return jsontext.write(data) + "\n"


def _plain(entry: Any, **more: Any) -> dict[str, Any]:
    return {field.name: getattr(entry, field.name) for field in fields(entry)} | more


def _kind(*types: type) -> Callable[[Any], bool]:
    return lambda value: type(value) in types


_TEXT: Final[Field] = (_kind(str), "a text", ...)
_NUMBER: Final[Field] = (lambda v: type(v) is int and v >= NOTHING, "a number, or -1", ...)
_LIST: Final[Field] = (_kind(list), "a list", ...)
_TABLE: Final[Field] = (_kind(dict), "an object", ...)

_OUTLINE: Final[Mapping[str, Field]] = {
    "schema": (lambda v: v == SCHEMA, SCHEMA, ...),
    "title": _TEXT,
    "mode": _TEXT,
    "loss": _TEXT,
    "forward": _NUMBER,
    "recorded": (_kind(bool), "true or false", ...),
    "settings": (
        lambda v: type(v) is dict and all(type(n) is list and all(type(t) is str for t in n) for n in v.values()),
        "lists of names",
        ...,
    ),
    "operations": _LIST,
    "leaves": _LIST,
}
_OPERATION: Final[Mapping[str, Field]] = {
    **dict.fromkeys(("name", "type", "layer", "source"), _TEXT),
    **dict.fromkeys(("depth", "pair"), _NUMBER),
    "attributes": _TABLE,
    "operands": _LIST,
}
_LEAF: Final[Mapping[str, Field]] = {
    **dict.fromkeys(("name", "dtype", "gradient", "source", "path"), _TEXT),
    "role": (lambda v: v in (PARAMETER, DATA, CONSTANT), "parameter, data or constant", ...),
    "shape": (lambda v: type(v) is list and all(type(d) is int and d >= -1 for d in v), "a shape", ...),
}


def read(data: bytes | str, file: str) -> Outline:
    """The outline in a file.

    Args:
        file: what it is called in errors.

    Raises:
        FileFormatError: it holds none, or a damaged one.
    """

    def fail(expected: str, came: str) -> NoReturn:
        raise FileFormatError(file, expected, came, hint=HINT)

    told = jsontext.read(data, file)
    if not isinstance(told, dict) or told.get("schema") != SCHEMA:
        form = told.get("schema") if isinstance(told, dict) else told
        fail(f"an outline ({SCHEMA})", f"it is {jsontext.shorten_value(form)}")
    told = jsontext.take(told, _OUTLINE, fail)
    taken = [jsontext.take(entry, _LEAF, fail) for entry in told["leaves"]]
    leaves = {entry["name"]: OutlineLeaf(**{**entry, "shape": tuple(entry["shape"])}) for entry in taken}
    operations: list[OutlineOperation] = []
    forward = told["forward"]
    for at, entry in enumerate(told["operations"]):
        op = jsontext.take(entry, _OPERATION, fail)
        operands = [_operand(o, at, leaves, fail) for o in op["operands"]]
        if not NOTHING <= op["pair"] < max(forward, 1):
            fail("the number of a forward operator", f"the pair of {op['name']} is {op['pair']}")
        operations.append(OutlineOperation(**{**op, "operands": operands}))
    if not 0 <= forward <= len(operations):
        fail(f"up to {len(operations)} forward operators", f"there are {forward}")
    settings, recorded = told["settings"], told["recorded"]
    return Outline(told["title"], told["mode"], told["loss"], forward, operations, leaves, settings, recorded)


def _operand(
    told: Any, at: int, leaves: Mapping[str, OutlineLeaf], fail: Callable[[str, str], NoReturn]
) -> OutlineOperand:
    match told:
        case [str(slot), int(maker), str(tensor)] if NOTHING <= maker < at and (maker != NOTHING or tensor in leaves):
            return OutlineOperand(slot, maker, tensor)
    fail("an operand that is there before it is read", f"it is {jsontext.shorten_value(told)}")
