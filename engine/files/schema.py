"""Files that gradtool wrote and reads back: a schema for each kind, and one reader that checks all of it.

Whoever reads such a file says once what stands where, and gets values that are so, or one :class:`FileFormatError` that
names the file, the place in it, what was expected and what came::

    ROW = Table({"key": TEXT, "seed": WHOLE, "feed": Either(NULL, TEXT)})
    row = read(data, "results.jsonl:3", ROW)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import field
from typing import Any, Final

from ..core.errors import FileFormatError
from ..core.records import dataclass
from . import jsontext

Path = tuple[str | int, ...]
"""The way to a value: keys of tables, and numbers in lists, from 0."""


@dataclass(frozen=True)
class Fault:
    """Fault of a value.

    Attributes:
        path: where it stands.
        schema: what should stand there.
        value: what does.
        key: the key of a table that is missing in it, or that it should not have; None where the value itself is wrong.
    """

    path: Path
    schema: Shape
    value: Any
    key: str | None = None

    @property
    def is_missing(self) -> bool:
        """Return whether the key is missing."""
        return self.key is not None and self.key not in self.value


@dataclass(frozen=True)
class ValueSchema:
    """A single value.

    Attributes:
        expected: what it is, for messages: ``a text``.
        accepts: whether a value is one.
        described: as a JSON schema, where one is written.
        doc: what it means, for that.
    """

    expected: str
    accepts: Callable[[Any], bool]
    described: Mapping[str, Any] = field(default_factory=dict)
    doc: str = ""

    def faults(self, value: Any, path: Path) -> Iterator[Fault]:
        """Yield what is wrong."""
        if not self.accepts(value):
            yield Fault(path, self, value)


@dataclass(frozen=True)
class ListSchema:
    """A list.

    Attributes:
        of: what each member is.
        doc: what it means.
    """

    of: Shape
    doc: str = ""

    @property
    def expected(self) -> str:
        """Description for messages."""
        return f"a list, each {self.of.expected}"

    def faults(self, value: Any, path: Path) -> Iterator[Fault]:
        """Yield what is wrong with it and its members."""
        if not isinstance(value, list):
            yield Fault(path, self, value)
            return
        for number, member in enumerate(value):
            yield from self.of.faults(member, (*path, number))


@dataclass(frozen=True)
class TableSchema:
    """A table.

    Attributes:
        members: by key, what stands there.
        others: what stands under every other key; None where there may be none.
        needs: keys that have to be there; None for all members.
        what: what its keys are, for messages: ``option``.
        refused: keys that could be expected, and why they are not there.
        doc: what it means.
    """

    members: Mapping[str, Shape] = field(default_factory=dict)
    others: Shape | None = None
    needs: tuple[str, ...] | None = None
    what: str = "key"
    refused: Mapping[str, str] = field(default_factory=dict)
    doc: str = ""

    @property
    def expected(self) -> str:
        """Description for messages."""
        return f"an object with {', '.join(self.members)}" if self.members else "an object"

    def faults(self, value: Any, path: Path) -> Iterator[Fault]:
        """Yield what is wrong with it and its members."""
        if not isinstance(value, dict):
            yield Fault(path, self, value)
            return
        for key in self.members if self.needs is None else self.needs:
            if key not in value:
                yield Fault(path, self, value, key)
        for key, member in value.items():
            shape = self.members.get(key, self.others)
            if shape is None:
                yield Fault(path, self, value, key)
            else:
                yield from shape.faults(member, (*path, key))


@dataclass(frozen=True)
class Either:
    """One of two shapes.

    Attributes:
        first, second: which; the faults are those of the second.
    """

    first: Shape
    second: Shape
    doc: str = ""

    @property
    def expected(self) -> str:
        """Description for messages."""
        return f"{self.first.expected} or {self.second.expected}"

    def faults(self, value: Any, path: Path) -> Iterator[Fault]:
        """Yield what is wrong, if it is neither."""
        if next(self.first.faults(value, path), None) is None:
            return
        fault = next(self.second.faults(value, path), None)
        if fault is not None:
            is_inside = fault.path != path or fault.is_missing
            yield fault if is_inside else Fault(path, self, fault.value, fault.key)


Shape = ValueSchema | ListSchema | TableSchema | Either

_MOST: Final = 2**63
"""Whole numbers beyond which no computer counts."""


def _is_whole(value: Any) -> bool:
    return type(value) is int and -_MOST <= value < _MOST


def _is_number(value: Any) -> bool:
    return _is_whole(value) or (type(value) is float and math.isfinite(value))


NULL: Final = ValueSchema("null", lambda v: v is None)
TEXT: Final = ValueSchema("a text", lambda v: type(v) is str)
WHOLE: Final = ValueSchema("a whole number", _is_whole)
COUNT: Final = ValueSchema("a whole number from 0", lambda v: _is_whole(v) and v >= 0)
NUMBER: Final = ValueSchema("a number", _is_number)
SIZE: Final = ValueSchema("a number from 0", lambda v: _is_number(v) and v >= 0)
ANYTHING: Final = ValueSchema("anything", lambda v: True)


def one_of(*words: str) -> ValueSchema:
    """Return the shape of one of some words."""
    return ValueSchema(f"one of {', '.join(words)}", lambda v: type(v) is str and v in words)


def or_null(shape: Shape) -> Either:
    """Return the shape of a value that may be null."""
    return Either(NULL, shape)


def read(data: bytes | str, file: str, shape: Shape, hint: str | None = None) -> Any:
    """Return the value that a file holds.

    Args:
        data: its contents.
        file: what to call it in errors, with the line where it has some.
        shape: what stands in it.
        hint: what to do about a damaged one.

    Raises:
        FileFormatError: it is no JSON, or something else stands in it.
    """
    return check(jsontext.read(data, file), file, shape, hint)


def check(value: Any, file: str, shape: Shape, hint: str | None = None) -> Any:
    """Return a value of a file, which has the shape.

    Raises:
        FileFormatError: it has not.
    """
    fault = next(shape.faults(value, ()), None)
    if fault is None:
        return value
    path, schema = fault.path, fault.schema
    came = (
        f"it is {jsontext.shorten_value(fault.value)}"
        if fault.key is None
        else f"it has {jsontext.shorten_value(fault.key)}"
    )
    if fault.is_missing and isinstance(schema, TableSchema) and fault.key is not None:
        path, schema, came = (*path, fault.key), schema.members[fault.key], "it is missing"
    place = _place(path)
    raise FileFormatError(file, f"{place}: {schema.expected}" if place else schema.expected, came, hint=hint)


def _place(path: Path) -> str:
    """``answer.births[2].source``."""
    place = ""
    for part in path:
        place += f"[{part}]" if isinstance(part, int) else f"{'.' if place else ''}{jsontext.shorten_value(part)[1:-1]}"
    return place
