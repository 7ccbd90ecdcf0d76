"""Entries of a configuration file: values, lists and tables, each of which checks and describes itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import field
from typing import Any

from gradtool.engine.core.near_names import find_near, shorten
from gradtool.engine.core.records import dataclass

Path = tuple[str | int, ...]
"""The way to a value: keys of tables, and numbers in lists, from 0."""


@dataclass(frozen=True)
class Problem:
    """Problem in a file.

    Attributes:
        path: the key that is wrong.
        message: what is wrong with it.
    """

    path: Path
    message: str


@dataclass(frozen=True)
class ValueNode:
    """A text, a number, a switch.

    Attributes:
        expected: what it is, for messages: ``an integer``.
        accepts: whether a value is one.
        described: as a JSON schema.
    """

    expected: str
    accepts: Callable[[Any], bool]
    described: Mapping[str, Any]
    doc: str = ""

    def problems(self, value: Any, path: Path) -> Iterator[Problem]:
        """Nothing, or that it is something else."""
        if not self.accepts(value):
            yield Problem(path, f"expected {self.expected}, came {quote(value)}")

    def schema(self) -> dict[str, Any]:
        """The JSON schema."""
        return {**self.described, **({"description": self.doc} if self.doc else {})}


@dataclass(frozen=True)
class ListNode:
    """A list."""

    of: ValueNode | TableNode
    doc: str = ""

    def problems(self, value: Any, path: Path) -> Iterator[Problem]:
        """Yield the problems with it and with each of its members."""
        if not isinstance(value, list):
            what = "a list of tables" if isinstance(self.of, TableNode) else f"a list, each {self.of.expected}"
            yield Problem(path, f"expected {what}, came {quote(value)}")
            return
        for number, member in enumerate(value):
            yield from self.of.problems(member, (*path, number))

    def schema(self) -> dict[str, Any]:
        """The JSON schema."""
        return {"type": "array", "items": self.of.schema(), **({"description": self.doc} if self.doc else {})}


@dataclass(frozen=True)
class TableNode:
    """A table.

    Attributes:
        what: what its keys are, for messages: ``option``.
        members: by key, what stands there.
        others: what stands under every other key; None if there is none.
        needs: keys that have to be there.
        refused: keys that could be expected, and why they are not there.
    """

    what: str
    members: Mapping[str, Node] = field(default_factory=dict)
    others: Node | None = None
    needs: tuple[str, ...] = ()
    refused: Mapping[str, str] = field(default_factory=dict)
    doc: str = ""

    def problems(self, value: Any, path: Path) -> Iterator[Problem]:
        """Yield the problems with it and with its contents."""
        if not isinstance(value, dict):
            yield Problem(path, f"expected a table, came {quote(value)}")
            return
        for key, member in value.items():
            node = self.members.get(key, self.others)
            if node is not None:
                yield from node.problems(member, (*path, key))
            elif key in self.refused:
                yield Problem((*path, key), self.refused[key])
            else:
                yield self._unknown(key, path)
        for key in self.needs:
            if key not in value:
                yield Problem(path, f"{key} is missing")

    def _unknown(self, key: str, path: Path) -> Problem:
        close = ", ".join(map(shorten, find_near(key, self.members)))
        return Problem((*path, key), f"unknown {self.what}{f' (closest: {close})' if close else ''}")

    def schema(self) -> dict[str, Any]:
        """The JSON schema."""
        told: dict[str, Any] = {"type": "object"}
        if self.doc:
            told["description"] = self.doc
        if self.members:
            told["properties"] = {key: node.schema() for key, node in sorted(self.members.items())}
        told["additionalProperties"] = False if self.others is None else self.others.schema()
        if self.needs:
            told["required"] = sorted(self.needs)
        return told


Node = ValueNode | ListNode | TableNode


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


def text(doc: str = "") -> ValueNode:
    """Any text."""
    return ValueNode("a text", lambda v: isinstance(v, str), {"type": "string"}, doc)


def switch(doc: str = "") -> ValueNode:
    """True or false."""
    return ValueNode("true or false", lambda v: isinstance(v, bool), {"type": "boolean"}, doc)


def whole(least: int | None = None, most: int | None = None, doc: str = "") -> ValueNode:
    """An integer within bounds."""
    return _number_node("an integer", "integer", _whole, least, most, doc)


def number(least: float | None = None, most: float | None = None, doc: str = "", above: bool = False) -> ValueNode:
    """A number within bounds.

    Args:
        above: *least* itself is none.
    """
    return _number_node("a number", "number", _number, least, most, doc, above)


def _number_node(
    what: str,
    kind: str,
    is_one: Callable[[Any], bool],
    least: float | None,
    most: float | None,
    doc: str,
    above: bool = False,
) -> ValueNode:
    told: dict[str, Any] = {"type": kind}
    if least is not None:
        told["exclusiveMinimum" if above else "minimum"] = least
        what += f" above {least:g}" if above else f" from {least:g}"
    if most is not None:
        told["maximum"] = most
        what += f" to {most:g}"

    def accepts(value: Any) -> bool:
        if not is_one(value):
            return False
        low = least is None or (value > least if above else value >= least)
        return low and (most is None or value <= most)

    return ValueNode(what, accepts, told, doc)


def one_of(choices: tuple[str, ...], doc: str = "") -> ValueNode:
    """One of some words."""
    return ValueNode(f"one of {', '.join(choices)}", lambda v: v in choices, {"enum": list(choices)}, doc)


def whole_or_text(doc: str = "") -> ValueNode:
    """A number that may also be a word: ``50`` or ``all``."""
    return ValueNode(
        "an integer or a text", lambda v: _whole(v) or isinstance(v, str), {"type": ["integer", "string"]}, doc
    )
