"""JSON, read strictly: what one program understands, every other one understands alike.

Refused are names that come twice in an object, ``NaN`` and ``Infinity``, and nesting that no file of gradtool has.
"""

from __future__ import annotations

import codecs
import json
import reprlib
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any, NoReturn

from ..core.errors import FileFormatError

BOM = codecs.BOM_UTF8
"""What some editors put before a text in UTF-8; it is no part of the text."""


def write(value: Any, indent: int | None = None) -> str:
    """*value* as JSON, in ASCII; without blanks unless *indent* asks for lines."""
    return json.dumps(value, allow_nan=False, indent=indent, separators=(",", ":") if indent is None else None)


def read(data: bytes | str, where: str, are_finite: bool = True) -> Any:
    """The value that *data* stands for.

    Args:
        where: which file, and what in it, for the message.
        are_finite: whether ``NaN`` and ``Infinity`` are refused; some programs write them as numbers.

    Raises:
        FileFormatError: it is no JSON.
    """

    def fail(came: str) -> NoReturn:
        raise FileFormatError(where, "JSON", came)

    def distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        members = dict(pairs)
        if len(members) < len(pairs):
            (twice, _), *_ = Counter(name for name, _ in pairs).most_common(1)
            fail(f"the name {shorten_value(twice)} comes twice")
        return members

    def number(word: str) -> float:
        return fail(f"{word} stands there") if are_finite else float(word)

    try:
        text = data.removeprefix(BOM).decode("utf-8") if isinstance(data, bytes) else data
        return json.loads(text, object_pairs_hook=distinct, parse_constant=number)
    except UnicodeDecodeError as error:
        fail(f"byte {error.start} is not UTF-8")
    except json.JSONDecodeError as error:
        fail(f"line {error.lineno}, column {error.colno} is not: {error.msg}")
    except RecursionError:
        fail("it is nested too deeply")
    except FileFormatError:
        raise
    except ValueError as error:  # a number of thousands of digits
        fail(str(error))


def shorten_value(value: Any) -> str:
    """*value* for a message, however long it is."""
    return _SHORT.repr(value)


_SHORT = reprlib.Repr()
_SHORT.maxstring = _SHORT.maxother = 80


Field = tuple[Callable[[Any], bool], str, Any]
"""Of an entry: what holds of its value, how to say that, and its default (``...`` when it must be there)."""


def take(entry: Any, fields: Mapping[str, Field], fail: Callable[[str, str], NoReturn]) -> dict[str, Any]:
    """The values in *entry*, which has these fields and no others.

    Args:
        fail: raises what is expected and what came.
    """
    if not isinstance(entry, dict):
        fail(f"an object with {', '.join(fields)}", f"it is {shorten_value(entry)}")
    for name in entry:
        if name not in fields:
            fail(f"an object with {', '.join(fields)}", f"it has {shorten_value(name)}")
    members = {}
    for name, (holds, wanted, default) in fields.items():
        value = entry.get(name, default)
        if value is ...:
            fail(f"{name}: {wanted}", "it is missing")
        if name in entry and not holds(value):
            fail(f"{name}: {wanted}", f"it is {shorten_value(value)}")
        members[name] = value
    return members
