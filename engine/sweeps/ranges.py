"""Values of ``--seeds``, ``--set`` and ``--rows``."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Final

from ..core.command_errors import CommandError
from ..core.records import dataclass

MOST: Final = 10_000_000
"""Points of one sweep; more of them are a slip of the pen."""

_WHOLE: Final = re.compile(r"[+-]?\d+")
_SPAN: Final = re.compile(r"(?P<first>[^.:]*(?:\.[^.:]+)?)\.\.(?P<last>[^:]*)(?::(?P<how>[^:]*):(?P<count>[^:]*))?")
_SPACINGS: Final = ("log", "lin")
_FORMS: Final = "--set lr=1e-4..1e-1:log:20, --set lr=0..1:lin:5, --set width=1..8 or --set lr=0.1,0.2"


@dataclass(frozen=True, slots=True)
class Setting:
    """An argument of the model and its values, each as ``--arg`` takes it."""

    name: str
    values: tuple[str, ...]


def seeds(text: str) -> tuple[int, ...]:
    """The seeds of ``0..999``, ``1,5,9`` or ``0..9,20``, in that order.

    Raises:
        CommandError: it says no seeds, or one of them twice.
    """
    chosen: list[int] = []
    for piece in text.split(","):
        first, dots, last = piece.strip().partition("..")
        if not _WHOLE.fullmatch(first) or (dots and not _WHOLE.fullmatch(last)):
            raise CommandError(f"--seeds {text}: {piece.strip()!r} is no seed and no range", "--seeds 0..999 or 1,5,9")
        low, high = int(first), int(last) if dots else int(first)
        if high < low:
            raise CommandError(f"--seeds {text}: {low} is larger than {high}", f"--seeds {high}..{low}")
        _must_be_few(high - low + 1, f"--seeds {text}")
        chosen += range(low, high + 1)
    _must_differ(chosen, f"--seeds {text}")
    return tuple(chosen)


def parse_setting(text: str) -> Setting:
    """The setting of ``lr=1e-4..1e-1:log:20``, ``lr=0..1:lin:5``, ``width=1..8`` or ``lr=0.1,0.2``.

    Raises:
        CommandError: it says no values, or one of them twice.
    """
    name, equals, values = text.partition("=")
    if not equals or not name.isidentifier() or not values:
        raise CommandError(f"--set {text}: expected NAME=VALUES", _FORMS)
    span = _SPAN.fullmatch(values)
    chosen = _space(text, span) if span is not None else [piece.strip() for piece in values.split(",")]
    if not all(chosen):
        raise CommandError(f"--set {text}: a value is empty", _FORMS)
    _must_differ(chosen, f"--set {text}")
    return Setting(name, tuple(chosen))


def _space(text: str, span: re.Match[str]) -> list[str]:
    ends, how, count = (span["first"], span["last"]), span["how"], span["count"]
    if how is None:
        if not all(_WHOLE.fullmatch(end) for end in ends):
            raise CommandError(f"--set {text}: how many values between {ends[0]} and {ends[1]}?", _FORMS)
        low, high = map(int, ends)
        if high < low:
            raise CommandError(f"--set {text}: {low} is larger than {high}", _FORMS)
        _must_be_few(high - low + 1, f"--set {text}")
        return [*map(str, range(low, high + 1))]
    if how not in _SPACINGS:
        raise CommandError(f"--set {text}: {how!r} is no spacing", f"{' or '.join(_SPACINGS)}: {_FORMS}")
    if not count.isdecimal() or int(count) < 2:
        raise CommandError(f"--set {text}: {count!r} is no number of values from 2", _FORMS)
    low_high = [_number(end, text) for end in ends]
    _must_be_few(int(count), f"--set {text}")
    if how == "log" and min(low_high) <= 0:
        raise CommandError(f"--set {text}: a logarithmic range is above 0", _FORMS)
    first, last = map(math.log10, low_high) if how == "log" else low_high
    steps = int(count) - 1
    between = [first + (last - first) * i / steps for i in range(1, steps)]
    inner = [10.0**value if how == "log" else value for value in between]
    return [f"{value:.6g}" for value in (low_high[0], *inner, low_high[1])]


def _number(text: str, whole: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise CommandError(f"--set {whole}: {text!r} is no finite number", _FORMS)
    return value


def batches(text: str) -> tuple[str, tuple[int, ...]]:
    """The file and the sizes of batches of ``data.npz:32``; of ``data.npz``, one row at a time; ``data.npz:32,256``.

    Raises:
        CommandError: a size is none, or comes twice.
    """
    path, colon, sizes = text.rpartition(":")
    if not colon or not re.fullmatch(r"[\d, ]*", sizes):
        return text, (1,)
    pieces = [piece.strip() for piece in sizes.split(",")]
    if not path or not all(piece.isdecimal() and int(piece) for piece in pieces):
        raise CommandError(f"--rows {text}: {sizes!r} is no size of a batch", "--rows data.npz:32")
    _must_differ(pieces, f"--rows {text}")
    return path, tuple(map(int, pieces))


def _must_differ(values: Sequence[object], what: str) -> None:
    twice = next((v for i, v in enumerate(values) if v in values[:i]), None) if len({*values}) < len(values) else None
    if twice is not None:
        raise CommandError(f"{what}: {twice} comes twice")


def _must_be_few(count: int, what: str) -> None:
    if count > MOST:
        raise CommandError(f"{what}: {count} points, and a sweep has at most {MOST}")
