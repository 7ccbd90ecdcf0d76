"""Nested lists, tuples and dicts of variables: what branches and loop bodies return."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any


def leaves(value: Any) -> list[Any]:
    """What *value* holds, in order; dicts by sorted key."""
    values: list[Any] = []
    todo = [value]
    while todo:
        entry = todo.pop()
        if isinstance(entry, dict):
            todo += [entry[k] for k in sorted(entry, reverse=True)]
        elif isinstance(entry, (list, tuple)):
            todo += reversed(entry)
        else:
            values.append(entry)
    return values


def packed(like: Any, values: Sequence[Any]) -> Any:
    """*values* in the structure of *like*: the inverse of :func:`leaves`."""
    return _packed(like, iter(values))


def _packed(like: Any, values: Iterator[Any]) -> Any:
    if isinstance(like, dict):
        filled = {k: _packed(like[k], values) for k in sorted(like)}
        return {k: filled[k] for k in like}
    if isinstance(like, tuple) and hasattr(like, "_fields"):
        return type(like)(*(_packed(v, values) for v in like))
    if isinstance(like, (list, tuple)):
        return type(like)(_packed(v, values) for v in like)
    return next(values)


def mapped(function: Callable[[Any], Any], value: Any) -> Any:
    """*value* with *function* of each leaf in its place."""
    return packed(value, [function(v) for v in leaves(value)])


def difference(a: Any, b: Any) -> str | None:
    """How the structures of *a* and *b* differ, or None."""
    if isinstance(a, dict) or isinstance(b, dict):
        if not (isinstance(a, dict) and isinstance(b, dict)):
            return f"{_word(a)} and {_word(b)}"
        if set(a) != set(b):
            return f"the keys {sorted(map(str, a))} and {sorted(map(str, b))}"
        return next((d for k in a if (d := difference(a[k], b[k])) is not None), None)
    if isinstance(a, (list, tuple)) or isinstance(b, (list, tuple)):
        if not (isinstance(a, (list, tuple)) and isinstance(b, (list, tuple))):
            return f"{_word(a)} and {_word(b)}"
        if len(a) != len(b):
            return f"{len(a)} and {len(b)} elements"
        return next((d for x, y in zip(a, b, strict=True) if (d := difference(x, y)) is not None), None)
    return None


def _word(value: Any) -> str:
    return f"a {type(value).__name__}" if isinstance(value, (dict, list, tuple)) else "a single value"
