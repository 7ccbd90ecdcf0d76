"""Nested lists, tuples and dicts of variables: what branches and loop bodies return."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any


def leaves(value: Any) -> list[Any]:
    """Return the leaves of *value*, in order; dicts by sorted key."""
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
    """Return how the structures of *a* and *b* differ, or None."""
    if _form(a) is not _form(b):
        return f"{_word(a)} and {_word(b)}"
    if isinstance(a, dict):
        if set(a) != set(b):
            return f"the keys {sorted(map(str, a))} and {sorted(map(str, b))}"
        pairs = [(a[key], b[key]) for key in a]
    elif isinstance(a, (list, tuple)):
        if len(a) != len(b):
            return f"{len(a)} and {len(b)} elements"
        pairs = list(zip(a, b, strict=True))
    else:
        return None
    return next((d for x, y in pairs if (d := difference(x, y)) is not None), None)


def _form(value: Any) -> type | None:
    """Return the kind of structure that *value* is; lists and tuples are one. None for a leaf."""
    if isinstance(value, dict):
        return dict
    return list if isinstance(value, (list, tuple)) else None


def _word(value: Any) -> str:
    return f"a {type(value).__name__}" if isinstance(value, (dict, list, tuple)) else "a single value"
