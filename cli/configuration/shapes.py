"""Values of a configuration file, each with its JSON schema, and what a message says of a wrong one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gradtool.engine.core.near_names import find_near, shorten
from gradtool.engine.files.schema import Fault, ListSchema, Path, Shape, TableSchema, ValueSchema


def describe_fault(fault: Fault) -> tuple[Path, str]:
    """Return the place of a fault, and what is wrong there."""
    key, schema = fault.key, fault.schema
    if key is None:
        return fault.path, f"expected {_describe_schema(schema)}, came {quote(fault.value)}"
    if fault.is_missing:
        return fault.path, f"{key} is missing"
    assert isinstance(schema, TableSchema)
    close = ", ".join(map(shorten, find_near(key, schema.members)))
    unknown = f"unknown {schema.what}{f' (closest: {close})' if close else ''}"
    return (*fault.path, key), schema.refused.get(key, unknown)


def _describe_schema(schema: Shape) -> str:
    """Return what should stand there, in the words of TOML."""
    if isinstance(schema, TableSchema):
        return "a table"
    is_of_tables = isinstance(schema, ListSchema) and isinstance(schema.of, TableSchema)
    return "a list of tables" if is_of_tables else schema.expected


def quote(value: Any) -> str:
    """A value as a message quotes it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (dict, list)):
        return "a table" if isinstance(value, dict) else "a list"
    return shorten(repr(value) if isinstance(value, str) else str(value))


def _whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def text(doc: str = "") -> ValueSchema:
    """Any text."""
    return ValueSchema("a text", lambda v: isinstance(v, str), {"type": "string"}, doc)


def switch(doc: str = "") -> ValueSchema:
    """True or false."""
    return ValueSchema("true or false", lambda v: isinstance(v, bool), {"type": "boolean"}, doc)


def whole(least: int | None = None, most: int | None = None, doc: str = "") -> ValueSchema:
    """An integer within bounds."""
    return _number_in_bounds("an integer", "integer", _whole, least, most, doc)


def number(least: float | None = None, most: float | None = None, doc: str = "", above: bool = False) -> ValueSchema:
    """A number within bounds.

    Args:
        above: *least* itself is none.
    """
    return _number_in_bounds("a number", "number", _number, least, most, doc, above)


def _number_in_bounds(
    what: str,
    kind: str,
    is_one: Callable[[Any], bool],
    least: float | None,
    most: float | None,
    doc: str,
    above: bool = False,
) -> ValueSchema:
    described: dict[str, Any] = {"type": kind}
    if least is not None:
        described["exclusiveMinimum" if above else "minimum"] = least
        what += f" above {least:g}" if above else f" from {least:g}"
    if most is not None:
        described["maximum"] = most
        what += f" to {most:g}"

    def accepts(value: Any) -> bool:
        if not is_one(value):
            return False
        low = least is None or (value > least if above else value >= least)
        return low and (most is None or value <= most)

    return ValueSchema(what, accepts, described, doc)


def one_of(choices: tuple[str, ...], doc: str = "") -> ValueSchema:
    """One of some words."""
    return ValueSchema(f"one of {', '.join(choices)}", lambda v: v in choices, {"enum": list(choices)}, doc)


def whole_or_text(doc: str = "") -> ValueSchema:
    """A number that may also be a word: ``50`` or ``all``."""
    return ValueSchema(
        "an integer or a text", lambda v: _whole(v) or isinstance(v, str), {"type": ["integer", "string"]}, doc
    )
