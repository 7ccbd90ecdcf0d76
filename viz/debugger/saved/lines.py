"""The lines of a saved session, read one by one: is each of a kind that exists, with the fields of its kind?"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NoReturn

from gradtool.engine.core.errors import FileFormatError
from gradtool.engine.files import jsontext
from gradtool.engine.files.jsontext import Field, shorten_value
from gradtool.engine.view.graph import BACKWARD, FORWARD

from .writer import FORMAT

HINT = "the debugger's verb save writes such files"
MOST = 2**40
NO_ARRAY = object()
"""Of a value that is computed, not stored."""


class SessionLines:
    """The lines by their kind.

    Args:
        data: the file.
        file: what it is called in errors.

    Attributes:
        where: which line is being read, for errors.

    Raises:
        FileFormatError: it is no saved session, or one that is cut short.
    """

    def __init__(self, data: bytes | str, file: str) -> None:
        self.file = file
        self.where = file
        self.lines: dict[str, list[tuple[int, dict[str, Any]]]] = {kind: [] for kind in KINDS}
        self._split(data)

    def fail(self, expected: str, came: str) -> NoReturn:
        """Refuse the line that is being read."""
        raise FileFormatError(self.where, expected, came, hint=HINT)

    def _split(self, data: bytes | str) -> None:
        lines = self._text(data).split("\n")
        if lines[-1]:
            self.fail("a saved session", "its last line is cut short")
        for number, line in enumerate(lines[:-1], 1):
            self.where = f"{self.file}, line {number}"
            self._take(number, jsontext.read(line, self.where))
        self.where = self.file
        self._count(len(lines) - 1)

    def _text(self, data: bytes | str) -> str:
        if isinstance(data, bytes):
            try:
                data = data.removeprefix(jsontext.BOM).decode("utf-8")
            except UnicodeDecodeError as error:
                self.fail("a saved session", f"byte {error.start} is not UTF-8")
        if not data.strip():
            self.fail("a saved session", "it is empty")
        return data

    def _take(self, number: int, line: Any) -> None:
        """Note one line by its kind; the first one says which format it is."""
        if number == 1:
            form = line.get("schema") if isinstance(line, dict) else line
            if form != FORMAT:
                self.fail(f"a saved session ({FORMAT})", f"it is {shorten_value(form)}")
            return
        kind = line.get("kind") if isinstance(line, dict) else None
        if not isinstance(kind, str) or kind not in KINDS:
            self.fail(f"a line of one of the kinds {', '.join(KINDS)}", f"it is {shorten_value(kind)}")
        if self.lines["end"]:
            self.fail("nothing after the end", "there is more")
        del line["kind"]
        self.lines[kind].append((number, jsontext.take(line, KINDS[kind], self.fail)))

    def _count(self, number: int) -> None:
        """Refuse a file of *number* lines that has too many or too few of a kind, or not as many as its end says."""
        for kind, (least, most) in _COUNTS.items():
            if not least <= len(self.lines[kind]) <= most:
                came = "is none" if not self.lines[kind] else f"are {len(self.lines[kind])}"
                self.fail(f"{'one line' if most == 1 else 'lines'} of kind {kind}", f"there {came}")
        if self.lines["end"][0][1]["lines"] != number:
            self.fail(f"{self.lines['end'][0][1]['lines']} lines", f"there are {number}")

    def each(self, kind: str) -> Iterator[dict[str, Any]]:
        """The lines of a kind; what fails meanwhile names the line."""
        for number, line in self.lines[kind]:
            self.where = f"{self.file}, line {number}"
            yield line
        self.where = self.file

    def the(self, kind: str) -> dict[str, Any]:
        """The only line of a kind."""
        number, line = self.lines[kind][0]
        self.where = f"{self.file}, line {number}"
        return line


def is_numbered(line: Any) -> bool:
    """Return whether *line* is the number and the text of a line of source."""
    match line:
        case [int(n), str(text)]:
            return 1 <= n < 10_000_000 and "\n" not in text
    return False


def _kind(*types: type) -> Callable[[Any], bool]:
    return lambda value: type(value) in types


def _each(*types: type) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, list) and all(type(v) in types for v in value)


_TEXT: Field = (_kind(str), "a text", ...)
_COUNT: Field = (lambda v: type(v) is int and 0 <= v < MOST, "a number", ...)
_INDEX: Field = (lambda v: type(v) is int and -1 <= v < MOST, "a number, or -1", ...)
_MAYBE: Field = (lambda v: v is None or (type(v) is int and 0 <= v < MOST), "a number or null", ...)
_FLAG: Field = (_kind(bool), "true or false", ...)
_LIST: Field = (_kind(list), "a list", ...)
_DICT: Field = (_kind(dict), "an object", ...)
_NUMBERS: Field = (_each(int), "a list of numbers", ...)
_TEXTS: Field = (_each(str), "a list of texts", ...)
_OBJECT_OR_NULL: Field = (_kind(dict, type(None)), "an object or null", None)

KINDS: Mapping[str, Mapping[str, Field]] = {
    "run": {
        "title": _TEXT,
        "model": _TEXT,
        "opening": _TEXT,
        "mode": (lambda v: v in ("static", "eager"), "static or eager", ...),
        "begin": _COUNT,
        "loss": _MAYBE,
        "results": _LIST,
        "failed": (_kind(list, type(None)), "a list or null", ...),
        "budget": _MAYBE,
        "machine": _TEXT,
    },
    "sources": {"files": _LIST, "stacks": _LIST},
    "program": {"program": _DICT, "fed": _TEXTS, "fetched": _TEXTS},
    "value": {
        "name": _TEXT,
        "maker": _INDEX,
        "slot": _TEXT,
        "role": _TEXT,
        "parts": (_kind(list, type(None)), "a list or null", ...),
        "names": _TEXTS,
        "array": (lambda v: True, "a value", NO_ARRAY),
    },
    "op": {
        "name": _TEXT,
        "type": _TEXT,
        "part": (lambda v: v in (FORWARD, BACKWARD), f"{FORWARD} or {BACKWARD}", ...),
        "stack": _MAYBE,
        "layer": _TEXT,
        "pair": _INDEX,
        "operands": _LIST,
        "reads": _LIST,
        "outs": _LIST,
        "sums": _NUMBERS,
        "fixed": _TEXT,
        "recalled": (_kind(list), "a list", ()),
        "drawn": _OBJECT_OR_NULL,
        "kernel": _OBJECT_OR_NULL,
    },
    "session": {
        "began": _DICT,
        "stops": _LIST,
        "arrived": _FLAG,
        "numbered": _COUNT,
        "start": _COUNT,
        "branch": _TEXT,
        "names": _DICT,
        "lost": _TEXTS,
        "outputs": _LIST,
    },
    "branch": {"name": _TEXT, "cursor": _COUNT, "edits": _LIST, "stale": _NUMBERS},
    "cell": {
        "number": _COUNT,
        "source": _TEXT,
        "text": _TEXT,
        "html": (_kind(str, type(None)), "a text or null", None),
        "svg": (_kind(str, type(None)), "a text or null", None),
        "failed": _FLAG,
        "note": _FLAG,
        "branch": _TEXT,
        "cursor": _COUNT,
    },
    "end": {"lines": _COUNT},
}
_COUNTS = {"run": (1, 1), "sources": (1, 1), "program": (0, 1), "session": (1, 1), "branch": (1, MOST), "end": (1, 1)}
KERNEL: dict[str, Field] = {
    "type": _TEXT,
    "attrs": _DICT,
    "sizes": (_each(int, type(None)), "a list of numbers and nulls", ...),
    "wanted": (
        lambda v: v is None or (isinstance(v, list) and all(map(_each(bool), v))),
        "lists of true and false, or null",
        ...,
    ),
    "mask": _INDEX,
    "padded": _FLAG,
}
BEGAN: dict[str, Field] = {"cursor": _COUNT, "arrived": _FLAG, "stops": _LIST}
EDIT: dict[str, Field] = {
    "at": _COUNT,
    "number": _INDEX,
    "array": (lambda v: True, "a value", ...),
    "text": _TEXT,
    "dropped": _INDEX,
}
STOP: dict[str, Field] = {
    "number": _COUNT,
    "kind": (lambda v: v in ("break", "catch", "watch"), "break, catch or watch", ...),
    "text": _TEXT,
    "condition": _TEXT,
    "once": _FLAG,
    "enabled": _FLAG,
    "hits": _COUNT,
}
