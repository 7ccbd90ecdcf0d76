"""Texts of numbers, shapes, amounts and command lines, for people and in JSON."""

from __future__ import annotations

import math
import shlex
from collections.abc import Iterable, Sequence
from typing import Any

NOTHING = "–"


def number(value: float | None) -> str:
    """Four significant digits; ``nan`` and ``inf`` by name."""
    if value is None:
        return NOTHING
    return f"{value:.4g}"


def finite(value: float) -> float | None:
    """*value* for JSON, which has no NaN and no infinity: None in their place."""
    return value if math.isfinite(value) else None


def plain(value: Any) -> Any:
    """An attribute's value in JSON's types; a block by its index; what JSON cannot say, as text."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if hasattr(value, "parent_idx"):
        return {"block": value.idx}
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    if isinstance(value, float) and not math.isfinite(value):
        return repr(value)
    return value if value is None or isinstance(value, (bool, int, float, str)) else repr(value)


def shape(dims: Sequence[int]) -> str:
    """``100×256``; ``[]`` for a scalar, ``?`` for a dimension that is not known."""
    return "×".join("?" if d < 0 else str(d) for d in dims) if dims else "[]"


def count(n: int, what: str) -> str:
    """``1 gradient``, ``2 gradients``, ``2 passes``."""
    return f"{n} {plural(n, what)}"


def plural(n: int, what: str) -> str:
    """Return the form of a noun after a number."""
    if n == 1:
        return what
    return f"{what}es" if what.endswith("s") else f"{what}s"


def drop_lines(names: Sequence[str]) -> list[str]:
    """A line about parameters that were made and dropped; none where there are none."""
    return [f"{count(len(names), 'parameter')} made and dropped: {', '.join(names)}"] if names else []


def size(nbytes: int) -> str:
    """``1.5 MiB``."""
    amount = float(nbytes)
    for unit in ("B", "KiB", "MiB", "GiB"):
        if amount < 1024:
            return f"{nbytes} B" if unit == "B" else f"{amount:.3g} {unit}"
        amount /= 1024
    return f"{amount:.3g} TiB"


class ScriptWord(str):
    """A word that is not gradtool's: ``--``, or what follows it. It stands at the end, whatever is added later."""

    __slots__ = ()


def percentages(shares: Sequence[float]) -> list[str]:
    """Parts of a whole in tenths of a percent that add up to 100: what rounding leaves goes to those it took most from.

    >>> percentages([1.0, 1.0, 1.0])
    ['33.4 %', '33.3 %', '33.3 %']
    >>> percentages([0.0, 0.0])
    ['0.0 %', '0.0 %']
    """
    total = sum(shares)
    if not total:
        return ["0.0 %" for _ in shares]
    exact = [1000 * share / total for share in shares]
    tenths = [int(x) for x in exact]
    rest = sorted(range(len(exact)), key=lambda i: tenths[i] - exact[i])
    for i in rest[: 1000 - sum(tenths)]:
        tenths[i] += 1
    return [f"{n / 10:.1f} %" for n in tenths]


def command_line(*words: str) -> str:
    """Words as one line that a shell reads back as they are; those of a script last."""
    if "--" in words:
        words = tuple(sorted(words, key=lambda word: isinstance(word, ScriptWord)))
    return shlex.join(words)


def repeat_option(option: str, values: Iterable[str]) -> list[str]:
    """The words of an option that is given once for each value."""
    return [word for value in values for word in (option, value)]


def remove_pass(words: Sequence[str]) -> list[str]:
    """The words of a command line without those that name one backward pass."""
    at = words.index("--backward") if "--backward" in words else len(words)
    return [*words[:at], *words[at + 2 :]]
