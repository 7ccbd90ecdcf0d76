"""A model that is checked: what it is called and how it is loaded, as plain data that goes to another process.

The same keys stand in ``[[models]]`` of a configuration file and in a line of the model itself::

    # gradtool: model build name=small arg="width=3" seed=1
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator, Mapping
from dataclasses import field, replace
from typing import Any, Final

from ..core.command_errors import CommandError
from ..core.near_names import find_near
from ..core.records import dataclass
from ..request.limits import ALL
from ..request.request import Request


@dataclass(frozen=True, kw_only=True)
class Subject:
    """A model that is checked.

    Attributes:
        name: what findings call it.
        target: what a command line calls it: ``model.py``, ``model.py:build``, ``pkg.mod:build``.
        feed: a file of arrays to feed to a program.
        options: how it is loaded, by the names of :data:`gradtool.engine.request.request.OPTIONS`.
    """

    name: str
    target: str
    feed: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def file(self) -> str:
        """The file of the target, without the function."""
        return file_of(self.target)

    def request(self) -> Request:
        """Return the request that loads it."""
        lists = {name: tuple(value) for name, value in self.options.items() if isinstance(value, list)}
        words = {**self.options, **lists}
        words["feed"] = self.feed or words.get("feed")
        return Request.create(self.target, **words, unfinished=True)

    def data(self) -> dict[str, Any]:
        """As JSON's types."""
        return {"name": self.name, "target": self.target, "feed": self.feed, "options": dict(self.options)}

    @classmethod
    def read(cls, data: Mapping[str, Any]) -> Subject:
        """Read a subject from what :meth:`data` returned."""
        return cls(**data)


def file_of(target: str) -> str:
    """Return the file of a target, without the function."""
    where, colon, after = target.rpartition(":")
    return where if colon and where and after.isidentifier() else target


def _steps(value: Any) -> int:
    number = ALL if value == "all" else int(value)
    if number < 1:
        raise ValueError
    return number


def _words(value: Any) -> list[str]:
    return shlex.split(value) if isinstance(value, str) else [str(v) for v in value]


def _pairs(value: Any) -> list[str]:
    pairs = [value] if isinstance(value, str) else list(value)
    if not all("=" in pair for pair in pairs):
        raise ValueError
    return pairs


def _mode(value: Any) -> str:
    if value not in ("auto", "static", "eager"):
        raise ValueError
    return str(value)


def _switch(value: Any) -> bool:
    return {"true": True, "1": True, "false": False, "0": False}[str(value).lower()]


OPTIONS: Final[Mapping[str, tuple[str, Callable[[Any], Any], str]]] = {
    "arguments": ("script", _words, "words"),
    "arg": ("arg", _pairs, "NAME=VALUE"),
    "steps": ("steps", _steps, "a number from 1, or all"),
    "loss": ("loss", str, "a name"),
    "seed": ("seed", int, "an integer"),
    "mode": ("mode", _mode, "auto, static or eager"),
    "backward": ("backward", str, "the number of a backward pass, or line:FILE:LINE"),
    "limit": ("limit", float, "seconds"),
    "module": ("as_module", _switch, "true or false"),
}
"""By key: the option that it sets, how its value is read, and what is expected."""

KEYS: Final = ("target", "name", "feed", *OPTIONS)


def read(target: str, table: Mapping[str, Any], usual: Subject, place: str) -> Subject:
    """A subject from keys and values.

    Args:
        target: what it loads.
        table: the keys but ``target``.
        usual: what holds where the table says nothing.
        place: where the table stands, for messages.

    Raises:
        CommandError: a key is unknown, or a value none.
    """
    options = dict(usual.options)
    for key, value in table.items():
        if key in ("name", "feed"):
            continue
        if key not in OPTIONS:
            close = ", ".join(find_near(key, KEYS))
            raise CommandError(f"{place}: unknown key of a model {key!r}", f"closest: {close}" if close else None)
        name, reading, expected = OPTIONS[key]
        try:
            options[name] = reading(value)
        except (ValueError, KeyError):
            raise CommandError(f"{place}: {key}: expected {expected}, came {value!r}") from None
    name = str(table.get("name") or usual.name)
    return replace(usual, name=name, target=target, options=options, feed=table.get("feed", usual.feed))


LINE: Final = re.compile(r"^#[ \t]*gradtool:[ \t]*model\b[ \t]*(.*?)[ \t]*\r?$", re.MULTILINE)
"""A line that says that its file is a model."""

MARK: Final = b"gradtool: model"


def has_marker(data: bytes) -> bool:
    """Return whether a file may have such a line; this is evaluated for every file of a folder."""
    return b"gradtool:" in data and LINE.search(data.decode("utf-8", "replace")) is not None


def read_subjects(file: str, data: bytes, usual: Subject) -> Iterator[Subject]:
    """The models that the lines of a file speak of.

    Args:
        file: what a command line calls it.
        usual: what holds where a line says nothing.

    Raises:
        CommandError: a line says what it cannot.
    """
    text = data.decode("utf-8", "replace")
    for match in LINE.finditer(text):
        place = f"{file}:{text.count(chr(10), 0, match.start()) + 1}"
        try:
            words = shlex.split(match[1])
        except ValueError as error:
            raise CommandError(f"{place}: {str(error).lower()}") from None
        function = words.pop(0) if words and "=" not in words[0] else ""
        if function and not function.isidentifier():
            raise CommandError(f"{place}: {function!r} is neither the name of a function nor KEY=VALUE")
        yield _read_line(file, function, words, usual, place)


def _read_line(file: str, function: str, words: list[str], usual: Subject, place: str) -> Subject:
    table: dict[str, Any] = {}
    for word in words:
        key, equals, value = word.partition("=")
        if not equals:
            raise CommandError(f"{place}: {word!r} is not KEY=VALUE")
        table[key] = [*table.get(key, []), value] if key == "arg" else value
    target = f"{file}:{function}" if function else file
    return read(target, table, replace(usual, name=f"{usual.name}:{function}" if function else usual.name), place)
