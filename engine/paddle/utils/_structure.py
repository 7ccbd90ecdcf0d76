"""``paddle.utils.map_structure``, ``flatten``, ``pack_sequence_as``: nested lists, tuples and dicts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from gradtool.engine.core.errors import ArgumentTypeError, UsageError


def is_sequence(seq: Any) -> bool:
    """Return whether it is nested: a list, a tuple, a dict or another sequence; a string is not."""
    return isinstance(seq, (Mapping, Sequence)) and not isinstance(seq, (str, bytes))


def _entries(nest: Any) -> list[Any]:
    """Return the entries of a container, of dicts in the order of their keys."""
    return [nest[key] for key in sorted(nest)] if isinstance(nest, Mapping) else list(nest)


def _like(nest: Any, entries: Sequence[Any]) -> Any:
    """A container of the kind of *nest* with those entries."""
    if isinstance(nest, Mapping):
        by_key = dict(zip(sorted(nest), entries, strict=True))
        return type(nest)({key: by_key[key] for key in nest})  # type: ignore[call-arg]
    return type(nest)(*entries) if hasattr(nest, "_fields") else type(nest)(entries)


def flatten(nest: Any) -> list[Any]:
    """The values in nested containers as one list; something that is not nested as a list of it."""
    return list(_leaves(nest))


def _leaves(nest: Any) -> Iterator[Any]:
    """The values one after the other, however deep."""
    stack = [nest]
    while stack:
        value = stack.pop()
        if is_sequence(value):
            stack += reversed(_entries(value))
        else:
            yield value


def pack_sequence_as(structure: Any, flat_sequence: Sequence[Any]) -> Any:
    """The values of a flat list in containers as *structure* has them.

    Raises:
        ArgumentTypeError: *flat_sequence* is no list (a TypeError).
        UsageError: it has more or fewer values than *structure* (a ValueError).
    """
    if not is_sequence(flat_sequence):
        raise ArgumentTypeError("flat_sequence must be a sequence")
    count = len(flatten(structure))
    if len(flat_sequence) != count:
        raise UsageError(
            f"Could not pack sequence. Structure had {count} elements, but flat_sequence had {len(flat_sequence)} "
            f"elements. Structure: {structure}, flat_sequence: {flat_sequence}."
        )
    return _packed(structure, iter(flat_sequence))


def _packed(structure: Any, values: Iterator[Any]) -> Any:
    if not is_sequence(structure):
        return next(values)
    return _like(structure, [_packed(entry, values) for entry in _entries(structure)])


def map_structure(func: Callable[..., Any], *structure: Any) -> Any:
    """``func`` of each value, in the same containers; several structures go side by side, value by value.

    Raises:
        UsageError: another structure has fewer values than the first (a ValueError).
    """
    values = zip(*(flatten(s) for s in structure), strict=False)
    return pack_sequence_as(structure[0], [func(*entries) for entries in values])


class StructureTypeError(ArgumentTypeError):
    """Containers of different types (Paddle raises TypeError)."""


def assert_same_structure(nest1: Any, nest2: Any, check_types: bool = True) -> None:
    """Raise an error unless both are nested alike.

    Raises:
        UsageError: another number of values, or keys, somewhere (a ValueError).
        StructureTypeError: containers of other types, where *check_types* is True (a TypeError).
    """
    pairs = [(nest1, nest2)]
    while pairs:
        first, second = pairs.pop()
        if is_sequence(first) != is_sequence(second):
            raise UsageError(
                f"The two structures don't have the same nested structure.\n\nFirst structure: {nest1}\n\n"
                f"Second structure: {nest2}."
            )
        if not is_sequence(first):
            continue
        if check_types and type(first) is not type(second):
            raise StructureTypeError(
                "The two structures don't have the same sequence type. First structure has type "
                f"{type(first)}, while second structure has type {type(second)}."
            )
        if isinstance(first, Mapping) and {*first} != {*second}:
            raise UsageError(
                f"The two dictionaries don't have the same set of keys. First structure has keys {sorted(first)}, "
                f"while second structure has keys {sorted(second)}."
            )
        if len(first) != len(second):
            raise UsageError(
                "The two structures don't have the same number of elements.\n\n"
                f"First structure ({len(first)} elements): {nest1}\n\n"
                f"Second structure ({len(second)} elements): {nest2}"
            )
        pairs += zip(_entries(first), _entries(second), strict=True)
