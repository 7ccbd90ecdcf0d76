"""Small changes to files: bytes, numbers, words and JSON values, drawn from a random number generator."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from random import Random
from typing import Any

NUMBERS = (
    *(0, 1, -1, 2, 3, 5, 7, 16, 127, 128, 255, 256, 65535, 2**31 - 1, 2**31, 2**32, 2**53, 2**62, 2**63, 2**64),
    *(-2, -(2**31), -(2**63), 10**30, 0.5, 1.0, -0.0, 1e308, 5e-324),
)
WORDS = (
    *("", " ", "x", "@EMPTY@", "x@GRAD", "None", "NaN", "nan", "inf", "../../etc/passwd", "/dev/zero", "__class__"),
    *(
        "\0",
        "\n",
        "\x1b[31m",
        "\u202e",
        "\ud800",
        "é",
        "𝔁",
        "'",
        '"',
        "\\",
        "<script>",
        "a" * 300,
        "a" * 5000,
        "9" * 5000,
    ),
)
VALUES = (None, True, False, [], {}, [[]], [0], [-1], {"": 0}, [None], {"float": "nan"}, {"block": 0}, {"block": 1})
_NUMBER = re.compile(rb"-?\d+(?:\.\d+)?(?:e[-+]?\d+)?")
_WORD = re.compile(rb"[A-Za-z_@][\w@.]*")
_LONGEST = 400_000
"""Bytes that a changed file has at most: repeated changes would double it again and again."""


def changed_bytes(data: bytes, others: Sequence[bytes], draw: Random) -> bytes:
    """*data* with one to four changes; *others* are files of the same kind, to take parts from."""
    for _ in range(draw.choice((1, 1, 1, 2, 4))):
        data = draw.choice(_CHANGES)(data, others, draw)[:_LONGEST]
    return data


def _place(data: bytes, draw: Random) -> int:
    return draw.randrange(len(data) + 1)


def _span(data: bytes, draw: Random) -> tuple[int, int]:
    at = _place(data, draw)
    return at, at + draw.choice((1, 1, 2, 4, 8, 40, 300))


def _flip(data: bytes, others: Sequence[bytes], draw: Random) -> bytes:
    at = _place(data, draw)
    return data[:at] + bytes(b ^ (1 << draw.randrange(8)) for b in data[at : at + 1]) + data[at + 1 :]


def _set(data: bytes, others: Sequence[bytes], draw: Random) -> bytes:
    at = _place(data, draw)
    return data[:at] + bytes([draw.choice(b"\x00\xff\x80\n \"'[]{}(),:=-+.0123456789eE@\\/<>")]) + data[at + 1 :]


def _cut(data: bytes, others: Sequence[bytes], draw: Random) -> bytes:
    begin, end = _span(data, draw)
    return data[:begin] + data[end:]


def _shorten(data: bytes, others: Sequence[bytes], draw: Random) -> bytes:
    return data[: _place(data, draw)]


def _repeat(data: bytes, others: Sequence[bytes], draw: Random) -> bytes:
    begin, end = _span(data, draw)
    return data[:begin] + data[begin:end] * draw.choice((2, 2, 3, 50)) + data[end:]


def _insert(data: bytes, others: Sequence[bytes], draw: Random) -> bytes:
    at = _place(data, draw)
    return data[:at] + draw.randbytes(draw.choice((1, 2, 8))) + data[at:]


def _splice(data: bytes, others: Sequence[bytes], draw: Random) -> bytes:
    other = draw.choice(others)
    begin, end = _span(other, draw)
    at = _place(data, draw)
    return data[:at] + other[begin:end] + data[at + draw.choice((0, end - begin)) :]


def _token(data: bytes, pattern: re.Pattern[bytes], new: bytes | None, draw: Random) -> bytes:
    """*data* with one token exchanged for *new*, or for another token of the file."""
    tokens = list(pattern.finditer(data))
    if not tokens:
        return data
    old = draw.choice(tokens)
    other = new if new is not None else draw.choice(tokens).group()
    return data[: old.start()] + other + data[old.end() :]


def _number(data: bytes, others: Sequence[bytes], draw: Random) -> bytes:
    return _token(data, _NUMBER, str(draw.choice(NUMBERS)).encode(), draw)


def _word(data: bytes, others: Sequence[bytes], draw: Random) -> bytes:
    return _token(data, _WORD, None, draw)


def _strange_word(data: bytes, others: Sequence[bytes], draw: Random) -> bytes:
    return _token(data, _WORD, draw.choice(WORDS).encode("utf-8", "surrogatepass"), draw)


def _lines(data: bytes, others: Sequence[bytes], draw: Random) -> bytes:
    """A line moved, doubled or dropped."""
    lines = data.split(b"\n")
    line = lines.pop(draw.randrange(len(lines)))
    for _ in range(draw.randrange(3)):
        lines.insert(draw.randrange(len(lines) + 1), line)
    return b"\n".join(lines)


_CHANGES = (
    _flip,
    _set,
    _cut,
    _shorten,
    _repeat,
    _insert,
    _splice,
    _number,
    _number,
    _word,
    _word,
    _strange_word,
    _lines,
)


def changed_value(value: Any, draw: Random) -> Any:
    """A JSON value with one to three of the values in it changed; *value* itself stays."""
    value = json.loads(json.dumps(value))
    for _ in range(draw.choice((1, 1, 1, 2, 3))):
        places = [*_places(value)]
        if not places:
            return draw.choice(VALUES)
        holder, key = draw.choice(places)
        _change(holder, key, places, draw)
    return value


def _entries(holder: Any) -> Iterable[tuple[Any, Any]]:
    """``(index or key, what stands there)`` of a list or a dict; of anything else nothing."""
    if isinstance(holder, dict):
        return holder.items()
    return enumerate(holder) if isinstance(holder, list) else ()


def _places(value: Any) -> list[tuple[Any, Any]]:
    """Every ``(list or dict, index or key)`` inside."""
    places: list[tuple[Any, Any]] = []
    todo = [value]
    for holder in todo:  # grows while it is walked
        for key, entry in _entries(holder):
            places.append((holder, key))
            todo.append(entry)
    return places


def _change(holder: Any, key: Any, places: list[tuple[Any, Any]], draw: Random) -> None:
    old = holder[key]
    match draw.randrange(8):
        case 0:
            del holder[key]
        case 1 if isinstance(holder, list):
            holder.insert(draw.randrange(len(holder) + 1), old)
        case 1:
            holder[draw.choice(WORDS)] = holder.pop(key)
        case 2 | 3:
            values = [h[k] for h, k in places if h is not holder and (k in h if isinstance(h, dict) else k < len(h))]
            alike = [v for v in values if type(v) is type(old)] if draw.random() < 0.7 else values
            holder[key] = json.loads(json.dumps(draw.choice(alike or [None])))
        case 4 | 5:
            holder[key] = draw.choice(NUMBERS)
        case 6:
            holder[key] = draw.choice(WORDS)
        case 7:
            holder[key] = json.loads(json.dumps(draw.choice(VALUES)))
